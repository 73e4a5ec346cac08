"""What happens to nodes at moments that are known beforehand, and that nobody announces to the gateway but a drain."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.sim.cluster import Cluster
from pointsman.sim.loop import Loop, Rank

Begin = Annotated[float, Meta(ge=0, description="second it begins")]
End = Annotated[float, Meta(ge=0, description="second it ends")]
Span = Annotated[float, Meta(ge=0)]
NodeName = Annotated[str, Meta(description="name of the node")]
LEAST_CAPACITY = 0.01
"""Of a node's own, however long it is away: what it did while it was there is still put into proportion."""


class Slowdown(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node computes everything `factor` times slower for a while."""

    node: NodeName
    factor: Annotated[float, Meta(gt=0, description="how many times slower")]
    begins_s: Begin
    ends_s: End

    @property
    def lost(self) -> float:
        """The share of the node's capacity that is missing meanwhile."""
        return 1 - 1 / self.factor


class Failure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node is gone for a while, or for good.

    `kill`: its process dies; connections break, new ones are refused, and it comes back empty. `stop`: it stands still
    and says nothing; connections stay, and it goes on where it stood.
    """

    node: NodeName
    mode: Annotated[Literal["kill", "stop"], Meta(description="whether its process dies or stands still")] = "kill"
    begins_s: Begin
    ends_s: Annotated[End | None, Meta(description="second the node is back; never if left out")] = None

    @property
    def lost(self) -> float:
        """All of the node's capacity."""
        return 1.0


class Drain(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The gateway is told to give a node no new work for a while, or from then on.

    With `within_s`, what still runs there after so many seconds goes elsewhere.
    """

    node: NodeName
    begins_s: Begin
    ends_s: Annotated[End | None, Meta(description="second it is undrained; never if left out")] = None
    within_s: Annotated[
        Span | None, Meta(description="seconds it may finish what it has; as long as it takes if left out")
    ] = None

    @property
    def lost(self) -> float:
        """All of the node's capacity, although it finishes what it has."""
        return 1.0


Incident = Slowdown | Failure | Drain
Happening = Callable[[Incident], None]


class Incidents(msgspec.Struct, frozen=True):
    """All that happens in a run."""

    slowdowns: tuple[Slowdown, ...] = ()
    failures: tuple[Failure, ...] = ()
    drains: tuple[Drain, ...] = ()

    def all(self) -> Iterator[Incident]:
        """Every one, of whatever kind."""
        yield from self.slowdowns
        yield from self.failures
        yield from self.drains

    def left(self, node: str, seconds: float) -> float:
        """The share of its capacity that the node has over the first `seconds`."""
        lost = 0.0
        for one in self.all():
            if one.node == node:
                lost += one.lost * max(0.0, min(end_of(one), seconds) - one.begins_s) / seconds
        return max(LEAST_CAPACITY, 1 - lost)


def enter(incidents: Incidents, loop: Loop, cluster: Cluster) -> None:
    """Have all of it happen in its time. What begins as the one before it ends on that node comes after that end."""
    for one in sorted(incidents.all(), key=lambda one: one.begins_s):
        begin, end = _halves(one, cluster)
        rank = Rank.BRAIN if isinstance(one, Drain) else Rank.ENGINE
        loop.at(one.begins_s, rank, begin, one)
        if one.ends_s is not None:
            loop.at(one.ends_s, rank, end, one)


def _halves(one: Incident, cluster: Cluster) -> tuple[Happening, Happening]:
    """What makes it begin, and what makes it end."""
    name, node = one.node, cluster.nodes[one.node]
    if isinstance(one, Slowdown):
        return lambda _: node.slow_down(one.factor), lambda _: node.slow_down(1.0)
    if isinstance(one, Drain):
        return lambda _: cluster.drain(name, one.within_s), lambda _: cluster.undrain(name)
    if one.mode == "kill":
        return lambda _: cluster.kill(name), lambda _: node.restart()
    return lambda _: cluster.stop(name, end_of(one)), lambda _: node.go_on()


def told(one: Incident) -> str:
    """What happens, as a sentence."""
    until = f"from {one.begins_s:g} s on" if one.ends_s is None else f"from {one.begins_s:g} s to {one.ends_s:g} s"
    if isinstance(one, Slowdown):
        return f"{one.node} is {one.factor:g} times slower {until}."
    if isinstance(one, Drain):
        limit = "" if one.within_s is None else f", within {one.within_s:g} s"
        return f"{one.node} is drained {until}{limit}."
    return f"{one.node} {'is dead' if one.mode == 'kill' else 'stands still'} {until}."


def end_of(one: Incident) -> float:
    """The second it is over; infinite for never."""
    return inf if one.ends_s is None else one.ends_s


def problem_of(incidents: Sequence[Incident], nodes: Sequence[str]) -> tuple[int, str, str] | None:
    """Why incidents of one kind cannot happen to these nodes: which of them, its field and a sentence; or None."""
    for place, one in enumerate(incidents):
        if one.node not in nodes:
            return place, "node", f"no node named {one.node!r}; there are: {', '.join(nodes)}"
        if end_of(one) <= one.begins_s:
            return place, "ends_s", f"{end_of(one):g} is not after {one.begins_s:g}"
    in_order = sorted(range(len(incidents)), key=lambda place: (incidents[place].node, incidents[place].begins_s))
    for first, second in pairwise(in_order):
        before, after = incidents[first], incidents[second]
        if before.node == after.node and after.begins_s < end_of(before):
            return second, "begins_s", f"{after.begins_s:g} is before the end of the one that is on {after.node!r} then"
    return None
