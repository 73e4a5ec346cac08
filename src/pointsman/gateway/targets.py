"""Where a node's requests go: its pool of connections and the header lines that are its own."""

import msgspec

from pointsman.brain.model.node import NodeSpec
from pointsman.clock import Clock
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.origin import Origin
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.gateway.upstream import Pool


class Target(msgspec.Struct, frozen=True):
    """`lines` are Host, the key we show to the node, and its data-parallel rank."""

    pool: Pool
    prefix: bytes
    lines: bytes


class Targets:
    """One target per node; nodes behind one URL (data-parallel ranks) share their connections."""

    def __init__(
        self, clock: Clock, deadlines: Deadlines, timeouts: Timeouts, limits: Limits, node_key: str = ""
    ) -> None:
        self._clock = clock
        self._deadlines = deadlines
        self._timeouts = timeouts
        self._limits = limits
        self._key_line = b"authorization: Bearer %b\r\n" % node_key.encode() if node_key else b""
        self._pools: dict[Origin, Pool] = {}
        self._targets: dict[tuple[str, int | None], Target] = {}
        self._keys: dict[str, tuple[str, int | None]] = {}

    def of(self, node: NodeSpec) -> Target:
        """The node's target. Raises ValueError when its URL is none."""
        key = (node.url, node.rank)
        target = self._targets.get(key)
        if target is None:
            target = self._targets[key] = self._make(node)
            self._keys[node.name] = key
        return target

    def forget(self, name: str) -> None:
        """The node `name` is gone; its pool closes with the last node of its origin."""
        key = self._keys.pop(name, None)
        if key is not None:
            self._targets.pop(key, None)
        used = {target.pool.origin for target in self._targets.values()}
        for origin in [origin for origin in self._pools if origin not in used]:
            pool = self._pools.pop(origin)
            self._deadlines.forget(pool)
            pool.close()

    def close(self) -> None:
        """Close all idle connections."""
        for pool in self._pools.values():
            pool.close()

    def _make(self, node: NodeSpec) -> Target:
        origin = Origin.parse(node.url)
        pool = self._pools.get(origin)
        if pool is None:
            pool = self._pools[origin] = Pool(origin, self._clock, self._timeouts, self._limits)
            self._deadlines.watch(pool)
        rank = b"" if node.rank is None else b"x-data-parallel-rank: %d\r\n" % node.rank
        return Target(pool, origin.prefix, b"host: %b\r\n%b%b" % (origin.host_header, self._key_line, rank))
