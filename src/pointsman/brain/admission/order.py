"""Orders of waiting: who of a queue goes next.

A queue keeps its tickets in lanes, each sorted by the order's key and then by arrival. An order says in which lane a
ticket waits and which lanes are served now; policies that bind late pick among the front of those. Most orders have
one lane; `priority` has one for each class and `fair` one for each tenant. An order's own memory lives as long as its
queue.
"""

from collections.abc import Mapping
from math import floor, log2
from typing import ClassVar

from pointsman.brain.admission.fairness import TokenCounters

AGEING = 20
"""A class that waits gets every so many-th place at least, which is 5 %: strict priority starves batch work."""
CLASS_RANGE = 8
"""Priorities are classed by powers of two from 2^-8 to 2^8: 17 classes leave each its 5 %."""

Lane = str | int
"""A tenant's name, a class of priority, or "" where all wait together."""
Place = tuple[float, int, int]
"""Key, number by arrival, ticket id."""
Lanes = Mapping[Lane, list[Place]]
"""The lanes that are not empty, each sorted."""


class Waiter:
    """A waiting ticket. `deadline` is in seconds, `tokens` its prompt and output, `service` what those count as.

    `overtaken` counts those who came later and went first, `overtaken_service` is theirs.
    """

    __slots__ = (
        "deadline",
        "lane",
        "overtaken",
        "overtaken_service",
        "place",
        "priority",
        "service",
        "tenant",
        "ticket",
        "tokens",
    )

    def __init__(
        self, ticket: int, tenant: str = "", priority: float = 1.0, deadline: float = 0.0, tokens: float = 1.0,
        service: float = 1.0,
    ) -> None:  # fmt: skip
        self.ticket = ticket
        self.tenant = tenant
        self.priority = priority
        self.deadline = deadline
        self.tokens = tokens
        self.service = service
        self.overtaken = 0
        self.overtaken_service = 0.0
        self.lane: Lane = ""
        self.place: Place = (0.0, 0, ticket)


class Order:
    """First come, first served, and the base of all. `by_lane` tells that only overtakes in one's own lane count."""

    by_lane: ClassVar[bool] = False

    def lane(self, waiter: Waiter) -> Lane:  # noqa: ARG002
        """Where the ticket waits."""
        return ""

    def key(self, waiter: Waiter) -> float:  # noqa: ARG002
        """Its place there: lower goes first, the earlier of equals."""
        return 0.0

    def offered(self, lanes: Lanes) -> list[Lane]:
        """The lanes that may be served now, best first; there is at least one."""
        return list(lanes)

    def ahead(self, lane: Lane, rank: int, lanes: Lanes) -> int:  # noqa: ARG002
        """How many of other lanes are expected to go before the one that is `rank`-th (from 0) of `lane`."""
        return 0

    def gives_way(self, lane: Lane, lanes: Lanes) -> Lane | None:  # noqa: ARG002
        """The lane whose last ticket leaves a full queue for one more in `lane`; None if that one is refused."""
        return None

    def joined(self, waiter: Waiter) -> None:
        """A ticket waits from now on."""

    def left(self, waiter: Waiter) -> None:
        """A ticket waits no longer, placed or not."""

    def taken(self, lane: Lane, lanes: Lanes) -> None:
        """A ticket of `lane` is placed; it is still in `lanes`."""


class EarliestDeadline(Order):
    """The one whose first token is due first (Liu and Layland 1973)."""

    def key(self, waiter: Waiter) -> float:
        return waiter.deadline


class GreatestUtility(Order):
    """Most value per byte of KV memory: what waits in one queue is for one model, so per token."""

    def key(self, waiter: Waiter) -> float:
        return -waiter.priority / waiter.tokens


class Priority(Order):
    """The highest class, but each class that waits is owed every 20th place."""

    def __init__(self) -> None:
        self._owed: dict[Lane, int] = {}

    def lane(self, waiter: Waiter) -> Lane:
        return max(-CLASS_RANGE, min(CLASS_RANGE, floor(log2(waiter.priority))))

    def offered(self, lanes: Lanes) -> list[Lane]:
        owed = max(lanes, key=self._rank)
        return [owed] if self._owed.get(owed, 0) >= AGEING - 1 else [max(lanes, key=_class)]

    def ahead(self, lane: Lane, rank: int, lanes: Lanes) -> int:  # noqa: ARG002
        return sum(len(tickets) for other, tickets in lanes.items() if _class(other) > _class(lane))

    def gives_way(self, lane: Lane, lanes: Lanes) -> Lane | None:
        lowest = min(lanes, key=_class)
        return lowest if _class(lowest) < _class(lane) else None

    def taken(self, lane: Lane, lanes: Lanes) -> None:
        owed = {each: self._owed.get(each, 0) + 1 for each in lanes}
        owed[lane] = max(0, owed[lane] - AGEING)
        self._owed = owed

    def _rank(self, lane: Lane) -> tuple[int, int]:
        return self._owed.get(lane, 0), _class(lane)


class Fair(Order):
    """The tenant with the least counter, and those at most `locality` tokens of service beyond it.

    Among these a policy that binds late picks whose cache is on the node that is free; so `locality` is about the
    prefill that may be spared that way, and adds to the bound on the gap between tenants. Overtakes count inside one
    tenant: across tenants the counters are the bound.
    """

    by_lane: ClassVar[bool] = True

    def __init__(self, counters: TokenCounters, locality: float = 0.0) -> None:
        self._counters = counters
        self._locality = locality

    def lane(self, waiter: Waiter) -> Lane:
        return waiter.tenant

    def offered(self, lanes: Lanes) -> list[Lane]:
        counter = {lane: self._counters.of(str(lane)) for lane in lanes}
        first = min(counter, key=counter.__getitem__)
        if not self._locality:
            return [first]
        near = [lane for lane in counter if counter[lane] <= counter[first] + self._locality]
        return sorted(near, key=counter.__getitem__)

    def ahead(self, lane: Lane, rank: int, lanes: Lanes) -> int:
        """As if all took turns, beginning with the least counter."""
        own = self._counters.of(str(lane))
        return sum(
            min(len(tickets), rank + (self._counters.of(str(other)) < own))
            for other, tickets in lanes.items()
            if other != lane
        )

    def gives_way(self, lane: Lane, lanes: Lanes) -> Lane | None:
        """The tenant with the most waiting, if that is more than this one would have: nobody fills a queue for all."""
        longest = max(lanes, key=lambda other: len(lanes[other]))
        return longest if len(lanes[longest]) > len(lanes.get(lane, ())) + 1 else None

    def joined(self, waiter: Waiter) -> None:
        self._counters.joined(waiter.tenant)

    def left(self, waiter: Waiter) -> None:
        self._counters.left(waiter.tenant)


def order_of(name: str, counters: TokenCounters | None, locality: float = 0.0) -> Order:
    """A new order for one queue; `counters` are those of the queue's model, None unless the order is `fair`."""
    if counters is not None:
        return Fair(counters, locality)
    return _SIMPLE[name]()


def _class(lane: Lane) -> int:
    assert isinstance(lane, int)
    return lane


_SIMPLE: dict[str, type[Order]] = {
    "fcfs": Order,
    "priority": Priority,
    "edf": EarliestDeadline,
    "utility": GreatestUtility,
}
