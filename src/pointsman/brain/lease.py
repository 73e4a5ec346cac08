"""The two records of a request's life inside the brain: the ticket and, for each try, a lease.

submit ──► ticket waits ──► lease ──► ended
              ▲              │
              └── retried ◄──┘ (failed before anything was delivered)
              └── resumed ◄──┘ (interrupted, and the rest can be asked of another node)
"""

from pointsman.brain.cache.index import Insertion
from pointsman.brain.ledger import Booking
from pointsman.brain.model.outcome import Outcome
from pointsman.brain.model.request import Request


class Ticket:
    """A submitted request, waiting or placed. Sizes in tokens, times in seconds. Mutated by the dispatcher.

    `output_tokens` are what its answer is expected to take, `reserve_tokens` what blocks are reserved for.
    `excluded` are the ids of the nodes that failed it, sorted, `failed_at` is when the last of them did. What was
    delivered before an interruption has moved from `output_tokens` to `prompt_tokens`, which is what the next node is
    asked for; `delivered_tokens` says how much that is. All `interruptions` but the `losses` were for others' sake.
    """

    __slots__ = (
        "attempts",
        "delivered_tokens",
        "excluded",
        "failed_at",
        "id",
        "interruptions",
        "lease",
        "losses",
        "output_tokens",
        "prompt_tokens",
        "request",
        "reserve_tokens",
        "retrying",
        "submitted",
        "tokens_per_link",
    )

    def __init__(
        self,
        id: int,
        request: Request,
        prompt_tokens: int,
        output_tokens: int,
        reserve_tokens: int,
        tokens_per_link: float,
        now: float,
    ) -> None:
        self.id = id
        self.request = request
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.reserve_tokens = reserve_tokens
        self.tokens_per_link = tokens_per_link
        self.submitted = now
        self.lease: Lease | None = None
        self.attempts = 0
        self.excluded: tuple[str, ...] = ()
        self.failed_at = now
        self.retrying = False
        self.interruptions = 0
        self.losses = 0
        self.delivered_tokens = 0


class Lease:
    """The account of one request on one node, from choice to outcome. Mutated by the dispatcher.

    `ahead_tokens` and `ahead_pairs` are what was left of the backlog on the node when it was booked; `expected_s` how
    long after `started` its first token is predicted to come: behind that backlog, and this prompt's own prefill;
    `first_at` is None until it has come; `insertion` is what its prompt added to the prefix index. A row keeps its node
    as long as a lease is booked on it.
    """

    __slots__ = (
        "ahead_pairs",
        "ahead_tokens",
        "blocks",
        "booking",
        "context_at_start",
        "expected_s",
        "first_at",
        "id",
        "insertion",
        "node",
        "overlap_tokens",
        "queue_at_start",
        "row",
        "running_at_start",
        "started",
        "ticket",
        "tokens",
    )

    def __init__(self, id: int, ticket: Ticket, node: str, booking: Booking, now: float) -> None:
        self.id = id
        self.ticket = ticket
        self.node = node
        self.booking = booking
        self.row = booking.row
        self.started = now
        self.first_at: float | None = None
        self.tokens = 0
        self.blocks = 0
        self.insertion: Insertion | None = None
        self.overlap_tokens = 0
        self.expected_s = 0.0
        self.ahead_tokens = 0.0
        self.ahead_pairs = 0.0
        self.queue_at_start = 0.0
        self.running_at_start = 0.0
        self.context_at_start = 0.0

    @property
    def seen(self) -> int:
        """Tokens of the answer that were seen to come, other tries' included; less exact than what the engine tells."""
        ticket = self.ticket
        return ticket.delivered_tokens + self.tokens + (ticket.request.stream and self.first_at is not None)

    def end(self, outcome: Outcome) -> None:
        """Nothing more comes. Where the rest can be asked of another node, what came is known to the token."""
        self.ticket.lease = None
        if outcome.resumable:
            self.tokens = max(self.tokens, outcome.new_tokens - 1)  # the first is not among them
