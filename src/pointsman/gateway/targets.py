"""Where a node's requests go: its pool of connections and the header lines that are its own."""

import ssl
from collections.abc import Iterable, Sequence
from typing import Final

from pointsman.brain.model.node import NodeSpec
from pointsman.clock import Clock
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.origin import Origin
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.gateway.upstream import Pool
from pointsman.wire.kv_orders import CHAIN_HEADER, pack_links

Endpoint = tuple[str, int | None]


class Target:
    """`lines` are Host, the key we show to the node, and its data-parallel rank. Nothing changes it."""

    __slots__ = ("lines", "pool", "prefix")

    def __init__(self, pool: Pool, prefix: bytes, lines: bytes) -> None:
        self.pool: Final = pool
        self.prefix: Final = prefix
        self.lines: Final = lines


def chain_line(node: NodeSpec, links: Sequence[int]) -> bytes:
    """The line that tells a node which is commanded what its orders will call the blocks of a prompt; else nothing."""
    if node.residency != "commanded" or not links:
        return b""
    return b"%b: %b\r\n" % (CHAIN_HEADER.encode(), pack_links(links))


class Targets:
    """One target per endpoint, (URL, rank); those behind one URL (data-parallel ranks) share their connections."""

    def __init__(
        self,
        clock: Clock,
        deadlines: Deadlines,
        timeouts: Timeouts,
        limits: Limits,
        node_key: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._clock = clock
        self._deadlines = deadlines
        self._pools: dict[Origin, Pool] = {}
        self._targets: dict[Endpoint, Target] = {}
        self.configure(timeouts, limits, node_key, tls)

    def configure(self, timeouts: Timeouts, limits: Limits, node_key: str, tls: ssl.SSLContext | None = None) -> None:
        """Go by these from now on; connections there are serve on. A request already sent keeps the key it showed."""
        self._tls = tls
        self._timeouts = timeouts
        self._limits = limits
        self._key_line = b"authorization: Bearer %b\r\n" % node_key.encode() if node_key else b""
        for pool in self._pools.values():
            pool.configure(timeouts, limits, self._context(pool.origin))
        self._targets = {endpoint: self._make(*endpoint) for endpoint in self._targets}

    def of(self, node: NodeSpec) -> Target:
        """The node's target. Raises ValueError when its URL is none."""
        endpoint = (node.url, node.rank)
        target = self._targets.get(endpoint)
        if target is None:
            target = self._targets[endpoint] = self._make(*endpoint)
        return target

    def keep(self, nodes: Iterable[NodeSpec]) -> None:
        """Only `nodes` are left: whatever others had is closed, a pool with the last node of its origin."""
        endpoints = {(node.url, node.rank) for node in nodes}
        for gone in self._targets.keys() - endpoints:
            del self._targets[gone]
        for origin in self._pools.keys() - {target.pool.origin for target in self._targets.values()}:
            pool = self._pools.pop(origin)
            self._deadlines.forget(pool)
            pool.close()

    def close(self) -> None:
        """Close all idle connections."""
        for pool in self._pools.values():
            pool.close()

    def _context(self, origin: Origin) -> ssl.SSLContext | None:
        """The context for connections to `origin`; the default one is made when it is needed, for all of them."""
        if not origin.tls:
            return None
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _make(self, url: str, rank: int | None) -> Target:
        origin = Origin.parse(url)
        pool = self._pools.get(origin)
        if pool is None:
            pool = self._pools[origin] = Pool(origin, self._clock, self._timeouts, self._limits, self._context(origin))
            self._deadlines.watch(pool)
        rank_line = b"" if rank is None else b"x-data-parallel-rank: %d\r\n" % rank
        return Target(pool, origin.prefix, b"host: %b\r\n%b%b" % (origin.host_header, self._key_line, rank_line))
