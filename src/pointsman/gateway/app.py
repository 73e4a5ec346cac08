"""The gateway as one object: the brain behind its driver, the clients' side, the nodes' side, and how it stops.

Stopping (SIGTERM) is gentle: not ready, but serving for the lame-duck time, so that load balancers notice; then no new
connections, and running requests may end; what is left is told in-band. A second signal cuts all of it. Where another
process already listens on the same socket it is gentler still: `retire` refuses nobody, and an unused connection stays
open until its client has sent one more request and been told that it is the last.
"""

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pointsman.brain.cache.chain import seed_for
from pointsman.brain.cache.reported import Naming
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.commands import Pin, Unpin
from pointsman.brain.model.errors import BadRequest, Stopping
from pointsman.brain.model.facts import NodeChanged
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Instruct, Warm
from pointsman.clock import Clock, unix_seconds
from pointsman.gateway.access import Access
from pointsman.gateway.commander import Commander
from pointsman.gateway.continuing import Continuing
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.driver import Driver
from pointsman.gateway.exchange import Relaying
from pointsman.gateway.front import Front
from pointsman.gateway.intake import TOKEN_BLOCK, Intake
from pointsman.gateway.kv_events import Listening
from pointsman.gateway.origin import Origin
from pointsman.gateway.probes import Probes
from pointsman.gateway.routes import PlainRoute, route_table
from pointsman.gateway.server import Server
from pointsman.gateway.settings import ClientTenant, Limits, Resuming, Timeouts
from pointsman.gateway.targets import Targets
from pointsman.gateway.tls import Certificates
from pointsman.gateway.token_join import TokenJoin
from pointsman.gateway.trusted_peers import TrustedPeers
from pointsman.gateway.urgency import Urgency
from pointsman.gateway.warmer import Warmer, beginning

BACKLOG = 4096
"""Connections that may wait to be accepted; the system may allow fewer (net.core.somaxconn)."""
SHUTDOWN_S = 3600.0
"""Seconds for the closing words of TLS: no limit of its own, the connections' deadlines are what ends it."""
FLUSH_S = 0.25
"""Time for the last words of requests that are cut to leave."""

_log = logging.getLogger(__name__)


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the data plane is told. An empty `chain_secret` means a random one for this process.

    `tls` is for its port, which speaks plain HTTP without it; `node_tls` for nodes with https addresses, the system's
    defaults without it.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    api_keys: tuple[str, ...] = ()
    tenants: tuple[ClientTenant, ...] = ()
    node_key: str = ""
    routes: Mapping[str, PlainRoute] = {}
    allow_paths: tuple[str, ...] = ()
    trusted_peers: tuple[str, ...] = ()
    forwarded_for: bool = False
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()
    resuming: Resuming = Resuming()
    chain_secret: bytes = b""
    tls: ssl.SSLContext | None = None
    node_tls: ssl.SSLContext | None = None


class Gateway:
    """`start`, then `stop`. Made inside the running loop it serves on."""

    def __init__(self, settings: GatewaySettings, dispatcher: Dispatcher, clock: Clock) -> None:
        self._loop = loop = asyncio.get_running_loop()
        timeouts, limits = settings.timeouts, settings.limits
        self.settings = msgspec.structs.replace(settings, chain_secret=settings.chain_secret or os.urandom(16))
        self.dispatcher = dispatcher
        self._clock = clock
        self._started_at = int(unix_seconds())
        self._deadlines = Deadlines(loop, clock)
        self._targets = Targets(clock, self._deadlines, timeouts, limits, settings.node_key, settings.node_tls)
        self._probes = Probes(self._targets, timeouts, clock, loop)
        self.driver = Driver(dispatcher, clock, loop, self._probe)
        self._probes.driver = self.driver
        naming = Naming(seed_for(self.settings.chain_secret, "tokens"), TOKEN_BLOCK)
        self._listening = Listening(loop, naming, self.driver.kv_event)
        self._probes.told = self._listening.probed
        self._join = TokenJoin(naming, self._listening.adapters, dispatcher.placement.residency.share)
        self._probes.adapters = self._listening.adapters
        self._warmer = Warmer(self._targets, loop, self.driver.warmed)
        self.driver.warm = self._warmer.start
        self._commander = Commander(self._targets, loop, self.driver.obeyed)
        self.driver.instruct = self._commander.start
        self.continuing = Continuing(self._serving, self._targets, clock, loop)
        self._front = self._new_front()
        self._server = Server(self._front, self._deadlines, clock, timeouts, limits, self._peers())
        self._certificates = Certificates(settings.tls) if settings.tls else None
        self._listener: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port listened on, also when 0 was asked for."""
        assert self._listener is not None
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    @property
    def lame(self) -> bool:
        """Whether it is stopping and wants no new work."""
        return self._front.lame

    async def start(self, nodes: Iterable[NodeSpec]) -> None:
        """Listen, and let the nodes join. Raises OSError when the port is taken, ValueError for a bad node."""
        await self.listen()
        self.join(nodes)

    async def listen(self, listener: socket.socket | None = None) -> None:
        """Serve who connects to `listener`, or to the address of the settings. Raises OSError when it is taken."""
        settings = self.settings
        where: dict[str, Any] = {"host": settings.host, "port": settings.port, "reuse_address": True}
        if listener is not None:
            where = {"sock": listener}
        if self._certificates is not None:
            where |= {
                "ssl": self._certificates.listening,
                "ssl_handshake_timeout": settings.timeouts.client_head_s,
                "ssl_shutdown_timeout": SHUTDOWN_S,
            }
        self._listener = await self._loop.create_server(self._server.connection, backlog=BACKLOG, **where)

    def join(self, nodes: Iterable[NodeSpec]) -> None:
        """Let the nodes join; it need not listen yet. Raises ValueError for a bad node."""
        self._deadlines.start()
        for node in nodes:
            self.add_node(node)

    def configure(self, settings: GatewaySettings) -> None:
        """Go by `settings` from now on, but for the address, the chain secret and whether TLS is spoken, which stay.

        A request whose head was read before keeps the front it met, and with it keys, routes and time-outs.
        """
        before, timeouts, limits = self.settings, settings.timeouts, settings.limits
        self.settings = msgspec.structs.replace(
            settings, host=before.host, port=before.port, chain_secret=before.chain_secret
        )
        self._targets.configure(timeouts, limits, settings.node_key, settings.node_tls)
        if self._certificates is not None and settings.tls is not None:
            self._certificates.replace(settings.tls)
        self._probes.configure(timeouts)
        lame = self._front.lame
        self._front = self._new_front()
        self._front.lame = lame
        self._server.configure(self._front, timeouts, limits, self._peers())

    def add_node(self, node: NodeSpec) -> None:
        """Raises ValueError for a bad URL or a taken id."""
        Origin.parse(node.url)
        self.driver.call(lambda now: self.dispatcher.add_node(node, now))

    def warm(self, path: str, data: bytes, nodes: Sequence[str]) -> list[Warm]:
        """Send the prompt of a request that asks `data` of `path` to `nodes`, or to all that lack it.

        Raises PointsmanError for what would be no good request, or cannot be sent by its beginning.
        """
        work = self._front.work_of(path.encode(), data)
        chain = work.request.chain
        if chain is not None and chain.links and beginning(work, len(chain.links)) is None:
            raise BadRequest("only chats, and completions of one text or of token ids, can be sent ahead")
        orders = self.dispatcher.warm(work.request, nodes, self._clock.now())
        asked = [order for order in orders if isinstance(order, Warm) and not order.ticket]
        for order in asked:
            self._warmer.start(order, work)
        self.driver.execute([order for order in orders if order not in asked])
        return asked

    def pin(self, path: str, data: bytes, nodes: Sequence[str], *, keep: bool) -> list[Instruct]:
        """Have `nodes`, or all that obey, keep what they hold of the prompt of such a request, or no longer.

        Raises PointsmanError.
        """
        request = self._front.work_of(path.encode(), data).request
        ask = self.dispatcher.pin if keep else self.dispatcher.unpin
        orders = ask(request, nodes, self._clock.now())
        self.driver.execute(orders)
        return [one for one in orders if isinstance(one, Instruct) and isinstance(one.commands[0], Pin | Unpin)]

    def node_changed(self, fact: NodeChanged) -> None:
        """To be subscribed to that fact: connections to a node that is gone are closed."""
        if fact.after == NodeState.GONE:
            nodes = (node for node in self.dispatcher.fleet.specs if node is not None and node.name != fact.node)
            self._targets.keep(nodes)
            self._listening.forget(fact.node)

    async def stop(self) -> None:
        """Gently: lame duck, then drain, then cut. Cancelling it goes straight to the cut."""
        timeouts = self.settings.timeouts
        self._front.lame = True
        try:
            await asyncio.sleep(timeouts.lame_duck_s)
            await self._drain(timeouts.drain_s)
        finally:
            self._cut()

    def stop_now(self) -> None:
        """Cut whatever there is."""
        self._cut()

    async def retire(self) -> None:
        """Serve no new connection, and each there is until it has been told so.

        Then `stop_now` cuts nothing: what takes longer than requests are given has been told that it ends.
        """
        self._close_listener()
        self._server.retiring = True
        until = self._clock.now() + self.settings.timeouts.drain_s
        while self._server.connections and self._clock.now() < until:
            await asyncio.sleep(0.05)
        await self._end_requests()

    def _probe(self, node: NodeSpec) -> None:
        """Ask the node how it is, and hear what it reports: as it is declared now."""
        self._listening.heed(node)
        self._probes.start(node)

    def _close_listener(self) -> None:
        if self._listener is not None:
            self._listener.close()

    def _serving(self, model: str) -> Iterator[tuple[NodeSpec, bool]]:
        """The nodes that should serve `model`, and whether each is up."""
        fleet = self.dispatcher.fleet
        for row in fleet.serves(model):
            yield fleet.spec(row), fleet.states[row] is NodeState.UP

    def _peers(self) -> TrustedPeers:
        return TrustedPeers(self.settings.trusted_peers, told=self.settings.forwarded_for)

    def _new_front(self) -> Front:
        """What a request meets, made of the settings there are now."""
        settings = self.settings
        pools = frozenset(route.pool for route in settings.routes.values())
        return Front(
            self.dispatcher,
            route_table(settings.routes, settings.allow_paths),
            Access(settings.api_keys, {tenant.name: tenant.keys for tenant in settings.tenants}),
            Intake(
                self.dispatcher,
                self._clock,
                settings.timeouts,
                settings.chain_secret,
                pools,
                settings.resuming or None,
                Urgency({tenant.name: tenant for tenant in settings.tenants}),
                self.continuing.trusts,
                self._join,
            ),
            Relaying(self.driver, self._targets, self._deadlines, self._clock, settings.timeouts, self._loop),
            self._started_at,
        )

    async def _drain(self, limit_s: float) -> None:
        self._close_listener()
        self._server.stop_keeping_alive()
        if self.driver.open_requests:
            _log.info("no new connections; requests under way have %g s to end: %d", limit_s, self.driver.open_requests)
        until = self._clock.now() + limit_s
        while self.driver.open_requests and self._clock.now() < until:
            await asyncio.sleep(0.05)
        await self._end_requests()

    async def _end_requests(self) -> None:
        """Tell the clients of what is still under way that it ends here."""
        if self.driver.open_requests:
            _log.warning("time is over: requests that are told that they end here: %d", self.driver.open_requests)
            self.driver.end_all(Stopping("this gateway is stopping"))
            await asyncio.sleep(FLUSH_S)

    def _cut(self) -> None:
        if self.driver.open_requests:
            _log.warning("requests that are cut: %d", self.driver.open_requests)
        self._close_listener()
        self._server.abort()
        self._probes.stop()
        self._listening.stop()
        self.continuing.stop()
        self._warmer.stop()
        self._commander.stop()
        self.driver.stop()
        self._deadlines.stop()
        self._targets.close()
