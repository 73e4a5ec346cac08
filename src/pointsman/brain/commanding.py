"""Nodes whose engines obey: what they hold is known, because they evict what they are told to.

Strategy: a node is commanded when it is declared so, its engine says that it obeys, and no other gateway stands before
it. Its links are kept by a rule (`cache/commanded.py`). Whenever a request is booked there, links are given up until
what is left fits beside what live requests take, with some headroom: orders and requests travel on different
connections, and an engine that needs a block before it is told which to give up takes one itself, and says so later.
What a prompt shares with others is counted once, as the engine does; the blocks of the pool, which are to be had by
others, count each request whole.

An instruction that fails makes the node believed again, as it can no longer be known what it holds. It is commanded
anew when its engine has been well for a while.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf

from pointsman.brain.cache.believed import Believed
from pointsman.brain.cache.commanded import Commanded
from pointsman.brain.cache.eviction import EVICTION_RULES
from pointsman.brain.cache.index import PrefixIndex
from pointsman.brain.cache.pool import Pool
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease
from pointsman.brain.model.commands import Carried, Command, Evict, Obeyed, Pin, Unpin
from pointsman.brain.model.facts import Instructed, ResidencyChanged
from pointsman.brain.model.node import Residency
from pointsman.brain.model.orders import Instruct, Order
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.observers import Observers

HEADROOM = 0.03
"""Share of a node's blocks that is kept blank, for requests that are faster than orders."""
AGAIN_SECONDS = 30.0
"""How long a node that failed an instruction is believed before it is commanded anew."""


class Commanding:
    """Mutates the index, and puts instructions in `out`. `on` while any node is commanded.

    `cleared` is called with the row of a node that holds nothing by order any more, `lost` with that of one which does
    not have links that it was to keep, for all we know, and these.
    """

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        index: PrefixIndex,
        pool: Pool,
        tell: Observers,
        out: list[Order],
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._index = index
        self._pool = pool
        self._tell = tell
        self._out = out
        self.on = False
        self._rows: dict[int, Commanded] = {}
        self._per_link: dict[int, float] = {}
        self._covered: dict[int, float] = {}
        self._holds: dict[int, tuple[int, int, float]] = {}
        self._open: dict[int, Instruct] = {}
        self._numbers = 0
        self._told: dict[int, str] = {}
        self.cleared: Callable[[int], object] = _nobody
        self.lost: Callable[[int, Sequence[int]], object] = _nobody_either
        self._doubted: dict[int, float] = {}

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on; nodes that are commanded keep the rule they began with."""
        self._settings = settings

    def obeys(self, row: int) -> bool:
        """Whether the node at `row` is commanded."""
        return self.on and row in self._rows

    def residency(self, row: int) -> Residency:
        """How it is known what the node at `row` has cached."""
        return "commanded" if self.obeys(row) else "believed"

    # Nodes

    def heard(self, row: int, report: NodeReport, now: float) -> None:
        """A good probe of a node that is declared as commanded: take it at its word, or say why not."""
        alone = self._settings.gateways == 1 and self._fleet.bounds.gateways == 1
        if report.obeys is None:
            return
        if report.obeys and alone:
            if row not in self._rows and self._doubted.get(row, -inf) <= now:
                self._begin(row, now)
            return
        why = "other gateways stand before it" if report.obeys else "its engine takes no orders"
        if row in self._rows or self._told.get(row) != why:
            self.believe(row, why, now)

    def believe(self, row: int, why: str, now: float) -> None:
        """What the node at `row` holds is believed from now on; for a start, that it holds what it held."""
        self._clear(row)
        held = self._rows.pop(row, None)
        self.on = bool(self._rows)
        if held is not None:
            believed = Believed(max(1, len(held)))
            self._index.put(row, believed)
            for chain in held.tree.chains():
                self._index.insert(row, chain)
        self._told[row] = why
        self._tell(ResidencyChanged(now, self._fleet.spec(row).name, "believed", why))

    def forget(self, row: int) -> None:
        """The node lost its cache."""
        if row in self._rows:
            self._put(row)

    def leave(self, row: int) -> None:
        """The node is gone, or is not to be commanded any more."""
        self._clear(row)
        self._rows.pop(row, None)
        self._told.pop(row, None)
        self._doubted.pop(row, None)
        self.on = bool(self._rows)

    # What is held there

    def hold(self, row: int, link: int) -> None:
        """Let nothing before this link be given up, nor the link."""
        self._rows[row].tree.hold(link)

    def let_go(self, row: int, link: int) -> None:
        """Hold it no longer."""
        self._rows[row].tree.let_go(link)

    def cover(self, row: int, blocks: float) -> None:
        """So many more of the blocks that are taken there hold links, and are counted with those."""
        if row in self._covered:
            self._covered[row] += blocks

    # Requests

    def comes(self, row: int, request_class: str, now: float) -> None:
        """A prompt is about to be learned."""
        held = self._rows[row]
        held.now, held.request_class = now, request_class

    def begun(self, lease: Lease) -> None:
        """A lease was booked and its prompt learned: it is held, and others make room for it."""
        row, chain = lease.row, lease.ticket.request.chain
        if chain is not None and chain.links and self._rows[row].tree.hold(chain.links[-1]):
            per_link = self._per_link[row] = lease.ticket.tokens_per_link / self._fleet.cells.block_tokens[row]
            blocks = min(len(chain.links) * per_link, float(lease.blocks))
            self._holds[lease.id] = row, chain.links[-1], blocks
            self._covered[row] += blocks
        self.fit(row)

    def ended(self, lease: Lease) -> None:
        """A lease has given its blocks back. Repeating is harmless."""
        row, link, blocks = self._holds.pop(lease.id, (-1, 0, 0.0))
        if row >= 0 and row in self._rows:
            self._covered[row] -= blocks
            self._rows[row].tree.let_go(link)

    def fit(self, row: int) -> None:
        """Give up what does not fit beside what live requests take."""
        cells, per_link = self._fleet.cells, self._per_link.get(row, 0.0)
        capacity = cells.kv_capacity[row]
        if per_link > 0.0 and capacity < inf:
            private = cells.kv_reserved[row] - self._covered[row]
            self._index.resize(row, int(((1.0 - HEADROOM) * capacity - private) / per_link))
        self.flush(row)

    def flush(self, row: int) -> None:
        """Order what was given up."""
        held = self._rows[row]
        if held.given_up:
            links, held.given_up = tuple(held.given_up), []
            self.instruct(row, (Evict(links),))

    # Instructions

    def instruct(self, row: int, commands: tuple[Command, ...]) -> int:
        """Have the node carry them out; the number of that."""
        self._numbers += 1
        order = self._open[self._numbers] = Instruct(self._numbers, self._fleet.spec(row), commands)
        self._out.append(order)
        return self._numbers

    def obeyed(self, report: Obeyed, now: float) -> bool:
        """An instruction ended; whether it was one of ours. Repeating is harmless."""
        order = self._open.pop(report.number, None)
        if order is None:
            return False
        name = order.node.name
        self._tell(Instructed(now, name, order.commands, report.done, len(report.lost), report.ok))
        row = self._fleet.row_of.get(name, -1)
        if row in self._rows:
            if report.ok:
                self.lost(row, (*report.lost, *_not_kept(order.commands, report.done)))
                self._index.lose(row, self._rows[row].lost(report.lost))
            else:
                self._doubted[row] = now + AGAIN_SECONDS
                self.believe(row, f"an order failed ({report.reason})", now)
        return True

    # Inside

    def _begin(self, row: int, now: float) -> None:
        self._put(row)
        self._told.pop(row, None)
        self._tell(ResidencyChanged(now, self._fleet.spec(row).name, "commanded", "its engine obeys"))
        self.instruct(row, (Unpin(()),))

    def _put(self, row: int) -> None:
        """Command the node at `row`, which is taken to be empty: what it has beside that it may evict itself."""
        self._clear(row)
        held = self._rows[row] = Commanded(EVICTION_RULES[self._settings.cache.eviction], self._recompute(row))
        self._covered[row] = 0.0
        self._index.put(row, held)
        self.on = True

    def _clear(self, row: int) -> None:
        """Nothing is held there any more."""
        self.cleared(row)
        self._holds = {lease: hold for lease, hold in self._holds.items() if hold[0] != row}

    def _recompute(self, row: int) -> Callable[[int], float]:
        """Seconds that the node at `row` takes for the link at some depth."""
        cells = self._fleet.cells

        def seconds(depth: int) -> float:
            tokens = self._per_link.get(row, 1.0) * cells.block_tokens[row]
            return tokens * (cells.prefill_per_token[row] + cells.prefill_per_pair[row] * tokens * (depth + 0.5))

        return seconds


def _not_kept(commands: Sequence[Command], done: Sequence[Carried]) -> Iterator[int]:
    """Links that were to be pinned of which the node knows none: lost already, or not computed yet."""
    for command, carried in zip(commands, done, strict=False):
        if isinstance(command, Pin) and carried.unknown >= len(command.links):
            yield from command.links


def _nobody(_row: int) -> None:
    """There is nobody to be told."""


def _nobody_either(_row: int, _links: Sequence[int]) -> None:
    """Nor of that."""
