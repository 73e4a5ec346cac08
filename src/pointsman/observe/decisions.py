"""The last decisions, each with every candidate's score: the answer to "why did this request go there?"

Strategy: a decision is made far more often than it is read. Writing keeps a few small arrays and references; names,
rows and what follows from them are put together when somebody asks. Placements and holds are kept apart, because a full
fleet holds again and again and would push out the placements one wants to see; for the same reason one request's
holds are one entry, the last of them, with their number.
"""

from collections import OrderedDict, deque
from collections.abc import Container, Iterator
from typing import Any

import msgspec
import numpy as np

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.choice import Scores
from pointsman.brain.model.facts import Decided
from pointsman.brain.model.view import Floats, Rows, View
from pointsman.observe.standing import DETAILED, PassedOver, Standing
from pointsman.observe.subscriber import Subscriber

KEPT = 1000
"""Decisions remembered by default: at 100 requests a second, the last ten seconds."""


class CandidateScore(msgspec.Struct, frozen=True):
    """One candidate as the policy saw it; lower scores are better. `overlap_tokens` of the prompt are cached there.

    `blocks_needed` are KV blocks to be newly allocated, `blocks_free` those not held by live requests, `fits` whether
    they suffice; null where unknown. `utility` (`greedy`): priority by memory and load, where the policy looked at it.
    """

    node: str
    score: float
    overlap_tokens: float
    blocks_needed: float | None = None
    blocks_free: float | None = None
    fits: bool | None = None
    utility: float | None = None


class Decision(msgspec.Struct, frozen=True):
    """One answer of a policy. `node` is None for a hold; `time` is Unix seconds.

    `times`: so often the request was held; this is the last time. `passed_over`: nodes that were no candidates.
    """

    request_id: str
    ticket: int
    model: str
    policy: str
    time: float
    reason: str
    node: str | None
    candidates: list[CandidateScore]
    passed_over: list[PassedOver] = []
    times: int = 1


class _Memory(msgspec.Struct, gc=False):
    """What the view told of the candidates' KV memory; `load` where the policy looked at it."""

    reserved: Floats
    kept: Floats | None
    places: Rows | None
    load: Floats | None
    prompt_tokens: float
    reserve_tokens: float
    priority: float


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
    memory: _Memory | None
    standing: Standing | None
    times: int = 1


class Decisions(Subscriber):
    """A subscriber to facts that remembers the last `kept` placements, and the last hold of as many requests.

    `fleet` gives rows their names; `epoch` is the Unix time of the clock's zero, so that people can read the times.
    """

    def __init__(self, fleet: Fleet, *, kept: int = KEPT, epoch: float = 0.0) -> None:
        self._fleet = fleet
        self._epoch = epoch
        self._kept = kept
        self._placed: deque[_Kept] = deque(maxlen=kept)
        self._held: OrderedDict[int, _Kept] = OrderedDict()
        self._names: tuple[str, ...] = ()
        self._named_version = -1
        self.handlers = {Decided: self._decided}

    def last(self, n: int = KEPT, model: str | None = None) -> list[Decision]:
        """The newest `n` decisions, newest first; of one model if given."""
        wanted = (kept for kept in self._newest_first() if model is None or kept.model == model)
        return [self._tell(kept) for kept, _ in zip(wanted, range(n), strict=False)]

    def of(self, request_id: str) -> list[Decision]:
        """Every remembered decision about one request, oldest first: holds, then placement, then further tries."""
        return [decision for _, decision in self.timed(request_id)]

    def timed(self, request_id: str, failed: Container[str] = ()) -> list[tuple[float, Decision]]:
        """The same, each with its time on the dispatcher's clock; `failed` are the nodes that failed the request."""
        found = [kept for kept in self._newest_first() if kept.request_id == request_id]
        return [(kept.now, self._tell(kept, failed)) for kept in reversed(found)]

    def _decided(self, fact: Decided) -> None:
        """Scores may be a column of the fleet, which changes; candidates and overlap belong to the view alone."""
        view, request = fact.view, fact.request
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
            _memory(view),
            None if view.whole else Standing.of(self._fleet),
        )
        if fact.chosen >= 0:
            self._placed.append(kept)
        else:
            self._hold(kept)

    def _hold(self, kept: _Kept) -> None:
        before = self._held.pop(kept.ticket, None)
        if before is not None:
            kept.times += before.times
        elif len(self._held) >= self._kept:
            self._held.popitem(last=False)
        self._held[kept.ticket] = kept

    def _newest_first(self) -> Iterator[_Kept]:
        both = [*self._held.values(), *self._placed]
        both.sort(key=lambda kept: kept.now)  # a hold and a placement at one moment happened in this order
        return reversed(both)

    def _tell(self, kept: _Kept, failed: Container[str] = ()) -> Decision:
        rows = kept.rows.tolist()
        names = [kept.names[row] for row in rows]
        columns = zip(names, kept.scores.tolist(), map(float, kept.overlap), strict=True)
        details = self._details(kept, names) or [()] * len(names)
        left_out = kept.standing.passed_over(self._fleet, kept.model, rows, failed) if kept.standing else []
        return Decision(
            request_id=kept.request_id,
            ticket=kept.ticket,
            model=kept.model,
            policy=kept.policy,
            time=self._epoch + kept.now,
            reason=kept.reason,
            node=names[kept.chosen] if kept.chosen >= 0 else None,
            candidates=[CandidateScore(*row, *more) for row, more in zip(columns, details, strict=True)],
            passed_over=left_out,
            times=kept.times,
        )

    def _details(self, kept: _Kept, names: list[str]) -> list[tuple[Any, ...]] | None:
        """What a candidate had of memory, and what the request was worth there. Not of nodes that are there no more."""
        memory, fleet = kept.memory, self._fleet
        if memory is None or any(fleet.row_of.get(name) != row for name, row in zip(names, kept.rows, strict=True)):
            return None
        columns = fleet.table.gather(kept.rows)
        columns.kv_reserved = memory.reserved
        view = View(
            columns,
            kept.rows,
            overlap=np.array(kept.overlap, dtype=np.float64),
            prompt_tokens=memory.prompt_tokens,
            output_tokens=memory.reserve_tokens,
            priority=memory.priority,
            whole=True,
            places=memory.places,
            kept=memory.kept,
        )
        utility = view.utility_under(memory.load).tolist() if memory.load is not None else [None] * len(names)
        free = view.kv_capacity - memory.reserved
        known = [value if value < np.inf else None for value in free.tolist()]
        return list(zip(view.blocks_needed.tolist(), known, view.fits.tolist(), utility, strict=True))

    def _row_names(self) -> tuple[str, ...]:
        """Names by fleet row. A new tuple when the fleet changed, so that kept decisions keep theirs."""
        if self._named_version != self._fleet.version:
            self._names = tuple(spec.name if spec else "" for spec in self._fleet.specs)
            self._named_version = self._fleet.version
        return self._names


def _memory(view: View) -> _Memory | None:
    if len(view.nodes) > DETAILED:
        return None
    reserved, looked_at = view.columns.kv_reserved, view.load_seen
    return _Memory(
        reserved.copy() if view.whole else reserved.take(view.nodes),
        view.kept,
        view.places,
        looked_at,
        view.prompt_tokens,
        view.reserve_tokens,
        view.priority,
    )
