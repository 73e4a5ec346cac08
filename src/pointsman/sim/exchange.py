"""One request's life as its client and the simulated gateway know it."""

from pointsman.brain.model.request import Request
from pointsman.engine.sequence import Sequence
from pointsman.sim.demand import Ask
from pointsman.sim.record import Record


class Exchange:
    """A request from its sending to its end. Mutated by its gateway, which sets what concerns a try anew for each.

    `first_s`: when the client saw the first token of a stream; `over`: whether it has its answer, or an error.
    """

    __slots__ = (
        "ask",
        "dialogue",
        "engine_priority",
        "first_s",
        "gateway",
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

    def begin(self, node: str, lease: int, sequence: Sequence, now: float) -> None:
        """It is sent to a node."""
        if not self.tries:
            self.waited_s = now - self.sent_s
        self.placed_s = now
        self.tries += 1
        self.node = node
        self.lease = lease
        self.sequence = sequence
        self.first_s = None

    @property
    def delivered(self) -> bool:
        """Whether the client has seen a part of the answer."""
        return self.first_s is not None

    def record(self, now: float, problem: str = "") -> Record:
        """What it came to, as it ends."""
        sequence = self.sequence
        return Record(
            sent_s=self.sent_s,
            first_s=self.first_s,
            done_s=now,
            ok=not problem,
            prompt_tokens=self.ask.prompt_tokens,
            cached_tokens=sequence.cached_tokens if sequence is not None else 0,
            output_tokens=sequence.generated if sequence is not None else 0,
            node=self.node,
            streamed=self.request.stream,
            id=self.request.id,
            tries=self.tries,
            problem=problem,
            dialogue=self.dialogue,
            waited_s=self.waited_s,
            placed_s=self.placed_s,
            gap_s=self._gap_s() if not problem else None,
            tenant=self.request.tenant,
        )

    def _gap_s(self) -> float | None:
        sequence = self.sequence
        return sequence.gap_s if self.request.stream and sequence is not None and sequence.generated > 1 else None
