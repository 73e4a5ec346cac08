"""Sends hot prefixes to idle nodes that lack them, so that they find them cached when load rises.

A warm-up is a prompt of the prefix alone, asked for one token. It is the work of a request, so it is booked like one:
decisions see it, and the prefix index counts the prefix as held where it is sent. Who sends it needs the prompt's text,
which the brain never sees; the order names an open request that begins with it.

No node spends more than a share of its idle time on this, none that has much to do spends any, and nothing is warmed
while requests wait.
"""

from collections.abc import Callable, Container, Sequence

from pointsman.brain.cache.hot import HotPrefix
from pointsman.brain.cache.index import Insertion
from pointsman.brain.fleet import Fleet
from pointsman.brain.ledger import Booking
from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.errors import BadRequest, NotFound
from pointsman.brain.model.facts import Fact, Warmed
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.orders import Order, Warm
from pointsman.brain.model.request import Request
from pointsman.brain.peers import Peers
from pointsman.brain.placement import Placement

_UP = NodeState.UP


class WarmUp:
    """One that is under way: what it holds, and what it added to the index."""

    __slots__ = ("blocks", "booking", "insertion", "node", "prefix", "started")

    def __init__(self, prefix: HotPrefix, node: str, booking: Booking, now: float) -> None:
        self.prefix = prefix
        self.node = node
        self.booking = booking
        self.started = now
        self.blocks = 0
        self.insertion: Insertion | None = None


class Warming:
    """Puts orders in `out`. `tickets` are the requests that are open."""

    def __init__(
        self,
        settings: CacheSettings,
        fleet: Fleet,
        placement: Placement,
        peers: Peers,
        tickets: Container[int],
        tell: Callable[[Fact], None],
        out: list[Order],
    ) -> None:
        self.settings = settings
        self._fleet = fleet
        self._placement = placement
        self._peers = peers
        self._tickets = tickets
        self._tell = tell
        self._out = out
        self._last = 0
        self._rested_at: dict[int, float] = {}
        self.open: dict[int, WarmUp] = {}

    def step(self, now: float) -> None:
        """Order what is worth most, as far as idle nodes have time for it."""
        settings, hot = self.settings, self._placement.hot
        idle = self._idle(now)
        for prefix in hot.by_value(settings.warm_hits, settings.warm_tokens, now) if hot and idle else ():
            if prefix.ticket in self._tickets:
                row = self._target(prefix, idle)
                if row is not None:
                    idle.remove(row)
                    self._out.append(self._order(prefix, row, now))

    def ask(self, request: Request, tokens_per_link: float, nodes: Sequence[str], now: float) -> list[Warm]:
        """Send the prompt of `request` to `nodes`, or to all that could serve it and lack it, whatever they have to do.

        Raises BadRequest for a prompt without a link, and NotFound for a node that does not serve its model.
        """
        if request.chain is None or not request.chain.links:
            raise BadRequest("the prompt is too short to be known by its beginning, or of a kind that has none")
        prefix = HotPrefix(request.model, request.chain.links, tokens_per_link, now)
        serving = self._fleet.found(request.model).listed
        for node in nodes:
            if self._fleet.row_of.get(node) not in serving:
                raise NotFound(f"no node {node!r} serves model {request.model!r} now", param="nodes")
        rows = [self._fleet.row_of[node] for node in dict.fromkeys(nodes)] or serving
        return [self._order(prefix, row, now) for row in rows if self._held(prefix, row) < len(prefix.links)]

    def ended(self, number: int, ok: bool, now: float) -> int | None:
        """A warm-up ended, `ok` if the node computed it; its row, or None for one that is unknown."""
        warm_up = self.open.pop(number, None)
        if warm_up is None:
            return None
        row, placement = warm_up.booking.row, self._placement
        placement.pool.release(row, warm_up.blocks, -number)
        placement.ledger.release(warm_up.booking, now)
        if not ok and warm_up.insertion is not None:
            placement.index.undo(row, warm_up.prefix.links, warm_up.insertion)
        prefix = warm_up.prefix
        self._tell(Warmed(now, warm_up.node, prefix.model, prefix.tokens, now - warm_up.started, ok))
        return row

    def _idle(self, now: float) -> list[int]:
        """Nodes that have little to do and time for a warm-up, the idlest first."""
        fleet, share = self._fleet, self.settings.warm_load
        outstanding = fleet.cells.outstanding
        busy = {warm_up.booking.row for warm_up in self.open.values()}
        rows = [
            row
            for row in fleet.rows()
            if fleet.states[row] is _UP
            and row not in busy
            and outstanding[row] <= share * fleet.cap[row]
            and self._rested_at.get(row, now) <= now
        ]
        return sorted(rows, key=lambda row: (outstanding[row], row))

    def _target(self, prefix: HotPrefix, idle: list[int]) -> int | None:
        """The node that the prefix is to be sent to, None if enough have it or none could take it."""
        fleet, placement = self._fleet, self._placement
        serving = fleet.found(prefix.model)
        able = set(placement.isolation.among(serving.rows, serving.rows, prefix.tokens).tolist())
        holders = {row for row in able if self._held(prefix, row) == len(prefix.links)}
        if len(holders) >= self.settings.warm_nodes:
            return None
        for row in idle:
            if row in able and row not in holders and placement.pool.has_room(row, prefix.tokens):
                return row
        return None

    def _held(self, prefix: HotPrefix, row: int) -> int:
        """Its leading links that are on the node."""
        return self._placement.index.depth(row, prefix.links)

    def _order(self, prefix: HotPrefix, row: int, now: float) -> Warm:
        self._last += 1
        placement, cells, node = self._placement, self._fleet.cells, self._fleet.spec(row)
        held = int(self._held(prefix, row) * prefix.tokens_per_link)
        miss = max(1, prefix.tokens - held)
        pairs = miss * (held + prefix.tokens) // 2
        booking = placement.ledger.book(row, miss, pairs, prefix.tokens + 1, now)
        warm_up = self.open[self._last] = WarmUp(prefix, node.name, booking, now)
        warm_up.blocks = placement.pool.reserve(row, prefix.tokens, -self._last)
        warm_up.insertion = placement.learn(row, prefix.links, prefix.tokens_per_link)
        if self._peers.any:
            self._peers.sent(node.name, prefix.links, prefix.tokens_per_link)
        seconds = cells.prefill_base[row] + miss * cells.prefill_per_token[row] + pairs * cells.prefill_per_pair[row]
        self._rested_at[row] = now + seconds / self.settings.warm_share
        return Warm(self._last, prefix.ticket, node, len(prefix.links), prefix.tokens)
