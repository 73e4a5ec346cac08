"""The last decisions, each with every candidate's score: the answer to "why did this request go there?"

Strategy: a decision is made far more often than it is read. Writing keeps three small arrays and a few references;
names and rows are put together when somebody asks. Placements and holds have rings of their own, because a full fleet
holds again and again and would push out the placements one wants to see.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.choice import Scores
from pointsman.brain.model.facts import Decided, Fact
from pointsman.brain.model.view import Floats, Rows

KEPT = 1000
"""Decisions remembered by default: at 100 requests a second, the last ten seconds."""


class CandidateScore(msgspec.Struct, frozen=True):
    """One candidate as the policy saw it; lower scores are better. `overlap_tokens` of the prompt are cached there."""

    node: str
    score: float
    overlap_tokens: float


class Decision(msgspec.Struct, frozen=True):
    """One answer of a policy. `node` is None for a hold; `time` is Unix seconds."""

    request_id: str
    ticket: int
    model: str
    policy: str
    time: float
    reason: str
    node: str | None
    candidates: list[CandidateScore]


class _Kept(msgspec.Struct, gc=False):
    """What is left of a decision; the request itself is let go, its chain can be long."""

    now: float
    ticket: int
    request_id: str
    model: str
    policy: str
    reason: str
    chosen: int
    rows: Rows
    scores: Scores
    overlap: Floats | list[float]
    names: tuple[str, ...]


class Decisions:
    """A subscriber to facts that remembers the last `kept` placements and as many holds.

    `fleet` gives rows their names; `epoch` is the Unix time of the clock's zero, so that people can read the times.
    """

    def __init__(self, fleet: Fleet, *, kept: int = KEPT, epoch: float = 0.0) -> None:
        self._fleet = fleet
        self._epoch = epoch
        self._placed: deque[_Kept] = deque(maxlen=kept)
        self._held: deque[_Kept] = deque(maxlen=kept)
        self._names: tuple[str, ...] = ()
        self._named_version = -1
        self.handlers: dict[type, Callable[[Any], None]] = {Decided: self._decided}

    def __call__(self, fact: Fact) -> None:
        if type(fact) is Decided:
            self._decided(fact)

    def last(self, n: int = KEPT, model: str | None = None) -> list[Decision]:
        """The newest `n` decisions, newest first; of one model if given."""
        wanted = (kept for kept in self._newest_first() if model is None or kept.model == model)
        return [self._tell(kept) for kept, _ in zip(wanted, range(n), strict=False)]

    def of(self, request_id: str) -> list[Decision]:
        """Every remembered decision about one request, oldest first: holds, then placement, then further tries."""
        found = [kept for kept in self._newest_first() if kept.request_id == request_id]
        return [self._tell(kept) for kept in reversed(found)]

    def _decided(self, fact: Decided) -> None:
        """Scores may be a column of the fleet, which changes; candidates and overlap belong to the view alone."""
        view, request = fact.view, fact.request
        ring = self._placed if fact.chosen >= 0 else self._held
        kept = _Kept(
            fact.now,
            fact.ticket,
            request.id,
            request.model,
            fact.policy,
            fact.reason,
            fact.chosen,
            view.nodes,
            fact.scores.copy(),
            view.held,
            self._row_names(),
        )
        ring.append(kept)

    def _newest_first(self) -> Iterator[_Kept]:
        both = [*self._placed, *self._held]
        return iter(sorted(both, key=lambda kept: kept.now, reverse=True))

    def _tell(self, kept: _Kept) -> Decision:
        names = [kept.names[row] for row in kept.rows]
        columns = zip(names, kept.scores.tolist(), map(float, kept.overlap), strict=True)
        return Decision(
            request_id=kept.request_id,
            ticket=kept.ticket,
            model=kept.model,
            policy=kept.policy,
            time=self._epoch + kept.now,
            reason=kept.reason,
            node=names[kept.chosen] if kept.chosen >= 0 else None,
            candidates=[CandidateScore(*row) for row in columns],
        )

    def _row_names(self) -> tuple[str, ...]:
        """Names by fleet row. A new tuple when the fleet changed, so that kept decisions keep theirs."""
        if self._named_version != self._fleet.version:
            self._names = tuple(spec.name if spec else "" for spec in self._fleet.specs)
            self._named_version = self._fleet.version
        return self._names
