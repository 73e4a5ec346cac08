"""One request's life as its client and the simulated gateway know it."""

from pointsman.brain.model.request import Request
from pointsman.engine.sequence import Sequence
from pointsman.sim.demand import Ask
from pointsman.sim.record import Record


class Exchange:
    """A request from its sending to its end. Mutated by its gateway, which sets what concerns a try anew for each.

    `first_s`: when the client saw the first token of a stream; `over`: whether it has its answer, or an error; `begun`:
    whether the present try has brought a token. What a try that was interrupted had delivered stays delivered:
    `delivered_tokens` is how much all such tries did.
    """

    __slots__ = (
        "_cached_tokens",
        "_gap_s",
        "_token_s",
        "ask",
        "begun",
        "delivered_tokens",
        "dialogue",
        "engine_priority",
        "first_s",
        "gateway",
        "interruptions",
        "lease",
        "node",
        "over",
        "placed_s",
        "request",
        "sent_s",
        "sequence",
        "ticket",
        "tries",
        "turn",
        "waited_s",
    )

    def __init__(self, dialogue: int, turn: int, ask: Ask, request: Request, now: float) -> None:
        self.dialogue = dialogue
        self.turn = turn
        self.ask = ask
        self.request = request
        self.sent_s = now
        self.engine_priority = 0
        self.ticket = 0
        self.gateway = 0
        self.lease = 0
        self.over = False
        self.tries = 0
        self.node = ""
        self.sequence: Sequence | None = None
        self.waited_s: float | None = None
        self.placed_s: float | None = None
        self.first_s: float | None = None
        self.begun = False
        self.interruptions = 0
        self.delivered_tokens = 0
        self._cached_tokens = 0
        self._token_s = 0.0
        self._gap_s = 0.0

    def begin(self, node: str, lease: int, sequence: Sequence, now: float) -> None:
        """It is sent to a node, or what it still lacks is."""
        if not self.tries:
            self.waited_s = now - self.sent_s
        self.placed_s = now
        self.tries += 1
        self.node = node
        self.lease = lease
        self.sequence = sequence
        self.begun = False

    def saw_first(self, now: float) -> None:
        """The first token of this try came, of the answer or of the rest of it."""
        self.begun = True
        if self.first_s is None:
            self.first_s = now
        else:
            self._gap_s = max(self._gap_s, now - self._token_s)

    def keep(self, token_s: float) -> None:
        """This try is over, its last token came at `token_s`, and another one is to follow on it."""
        sequence, self.sequence = self.sequence, None
        if sequence is None or not self.begun:
            return
        if not self.delivered_tokens:
            self._cached_tokens = sequence.cached_tokens
        self.delivered_tokens += sequence.generated
        self._token_s = token_s
        self._gap_s = max(self._gap_s, sequence.gap_s)

    @property
    def new_tokens(self) -> int:
        """Tokens that the client has from the present try."""
        return self.sequence.generated if self.begun and self.sequence is not None else 0

    @property
    def answer_tokens(self) -> int:
        """Tokens of the answer that were made, in tries that are continued and in the present one."""
        return self.delivered_tokens + (self.sequence.generated if self.sequence is not None else 0)

    @property
    def cached_tokens(self) -> int:
        """Tokens of the prompt that were cached where the answer began."""
        sequence = self.sequence
        return self._cached_tokens if self.delivered_tokens or sequence is None else sequence.cached_tokens

    @property
    def delivered(self) -> bool:
        """Whether the client has seen a part of the answer."""
        return self.first_s is not None

    def record(self, now: float, problem: str = "") -> Record:
        """What it came to, as it ends."""
        return Record(
            sent_s=self.sent_s,
            first_s=self.first_s,
            done_s=now,
            ok=not problem,
            prompt_tokens=self.ask.prompt_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.answer_tokens,
            node=self.node,
            streamed=self.request.stream,
            id=self.request.id,
            tries=self.tries,
            problem=problem,
            dialogue=self.dialogue,
            waited_s=self.waited_s,
            placed_s=self.placed_s,
            gap_s=self._longest_gap_s() if not problem else None,
            tenant=self.request.tenant,
            interruptions=self.interruptions,
        )

    def _longest_gap_s(self) -> float | None:
        if not self.request.stream or self.sequence is None or self.answer_tokens < 2:
            return None
        return max(self._gap_s, self.sequence.gap_s)
