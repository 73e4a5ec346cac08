"""The last decisions, each with every candidate's score: the answer to "why did this request go there?"

Strategy: a decision is made far more often than it is read. Writing keeps a few small arrays and references; names,
rows and what follows from them are put together when somebody asks. Placements and holds are kept apart, because a full
fleet holds again and again and would push out the placements one wants to see; for the same reason one request's
holds are one entry, the last of them, with their number.
"""

from collections import OrderedDict
from collections.abc import Container, Iterator
from typing import Any

import numpy as np
from mypy_extensions import mypyc_attr

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.facts import Decided
from pointsman.brain.model.view import Floats, View
from pointsman.observe.decision import CandidateScore, Decision
from pointsman.observe.standing import DETAILED, Standing
from pointsman.observe.subscriber import Subscriber

KEPT = 1000
"""Decisions remembered by default: at 100 requests a second, the last ten seconds."""


@mypyc_attr(acyclic=True)
class _Kept:
    """What is left of a decision; the request itself is let go, its chain can be long.

    `reserved` is None where there were too many candidates for what the view told of their memory to be kept; `load`
    is there where the policy looked at it.
    """

    __slots__ = (
        "chosen",
        "kept",
        "load",
        "model",
        "names",
        "now",
        "overlap",
        "places",
        "policy",
        "priority",
        "prompt_tokens",
        "reason",
        "request_id",
        "reserve_tokens",
        "reserved",
        "rows",
        "scores",
        "standing",
        "ticket",
        "times",
    )

    def __init__(
        self, fact: Decided, names: tuple[str, ...], reserved: Floats | list[float] | None, standing: Standing | None
    ) -> None:
        """Candidates and overlap belong to the view alone."""
        view, request, answer = fact.view, fact.request, fact.answer
        self.now = fact.now
        self.ticket = fact.ticket
        self.request_id = request.id
        self.model = request.model
        self.policy = fact.policy
        self.reason = answer.reason
        self.chosen = fact.chosen
        self.rows = view.nodes
        self.scores = answer.kept()
        self.overlap = view.held
        self.names = names
        self.standing = standing
        self.times = 1
        self.reserved = reserved
        self.kept = view.kept
        self.places = view.places
        self.load = view.load_seen
        self.prompt_tokens = view.prompt_tokens
        self.reserve_tokens = view.reserve_tokens
        self.priority = view.priority


class Decisions(Subscriber):
    """A subscriber to facts that remembers the last `kept` placements, and the last hold of as many requests.

    `fleet` gives rows their names; `epoch` is the Unix time of the clock's zero, so that people can read the times.
    """

    def __init__(self, fleet: Fleet, *, kept: int = KEPT, epoch: float = 0.0) -> None:
        self._fleet = fleet
        self._epoch = epoch
        self._kept = kept
        self._ring: list[_Kept | None] = [None] * kept
        self._placed = 0
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
        standing = None if fact.view.whole else Standing.of(self._fleet)
        kept = _Kept(fact, self._row_names(), _reserved(fact.view), standing)
        if fact.chosen >= 0:
            self._ring[self._placed % self._kept] = kept
            self._placed += 1
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
        at = self._placed % self._kept
        placed = [kept for kept in (*self._ring[at:], *self._ring[:at]) if kept is not None]
        both = [*self._held.values(), *placed]
        both.sort(key=lambda kept: kept.now)  # a hold and a placement at one moment happened in this order
        return reversed(both)

    def _tell(self, kept: _Kept, failed: Container[str] = ()) -> Decision:
        rows = kept.rows.tolist()
        names = [kept.names[row] for row in rows]
        columns = zip(names, map(float, kept.scores), map(float, kept.overlap), strict=True)
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
        fleet = self._fleet
        same = all(fleet.row_of.get(name) == row for name, row in zip(names, kept.rows, strict=True))
        if kept.reserved is None or not same:
            return None
        columns = fleet.table.gather(kept.rows)
        columns.kv_reserved = np.array(kept.reserved)
        view = View(
            columns,
            kept.rows,
            overlap=np.array(kept.overlap, dtype=np.float64),
            prompt_tokens=kept.prompt_tokens,
            output_tokens=kept.reserve_tokens,
            priority=kept.priority,
            whole=True,
            places=kept.places,
            kept=kept.kept,
        )
        utility = view.utility_under(kept.load).tolist() if kept.load is not None else [None] * len(names)
        free = view.kv_capacity - columns.kv_reserved
        known = [value if value < np.inf else None for value in free.tolist()]
        return list(zip(view.blocks_needed.tolist(), known, view.fits.tolist(), utility, strict=True))

    def _row_names(self) -> tuple[str, ...]:
        """Names by fleet row. A new tuple when the fleet changed, so that kept decisions keep theirs."""
        if self._named_version != self._fleet.version:
            self._names = tuple(spec.name if spec else "" for spec in self._fleet.specs)
            self._named_version = self._fleet.version
        return self._names


def _reserved(view: View) -> Floats | list[float] | None:
    """Blocks reserved on each candidate, if there are few enough for that to be kept."""
    if len(view.nodes) > DETAILED:
        return None
    if view.cells is not None and view.is_small:
        held = view.cells.kv_reserved
        return [held[view.row_of(index)] for index in range(len(view.nodes))]
    reserved = view.columns.kv_reserved
    return reserved.copy() if view.whole else reserved.take(view.nodes)
