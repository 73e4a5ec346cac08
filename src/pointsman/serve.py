"""`pointsman serve`: settings, brain, observers, gateway and admin port put together.

One process is one `Service`. Several on one port are one each, in a `Place` given by their supervisor (`workers`), who
has the admin port.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import socket
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import msgspec
import uvloop
from aiohttp import web

from pointsman.admin.answers import Local
from pointsman.admin.application import application
from pointsman.admin.services import Services
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import NodeChanged
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.clock import WallClock, unix_seconds
from pointsman.config.flags import ConfigError
from pointsman.config.idle import idle
from pointsman.config.serve import (
    ServeConfig,
    address,
    admin_hosts,
    brain_settings,
    open_journal,
    open_recording,
    open_usage,
    policy_table,
)
from pointsman.config.source import Source
from pointsman.gateway.app import Gateway, GatewaySettings
from pointsman.gateway.origin import Origin
from pointsman.observe.calls import Begin
from pointsman.observe.decisions import Decisions
from pointsman.observe.log import Log
from pointsman.observe.metrics import Metrics
from pointsman.observe.record import Journaled, begin
from pointsman.observe.recording import Flushing, Recorder
from pointsman.observe.stories import Stories
from pointsman.observe.usage import UsageLog
from pointsman.reload import Configured, Plan, Reload

ALL_READY_S = 1.0
"""A worker waits so long for all of its nodes to be well: else the first one would get all of its requests."""
READY_S = 10.0
"""One that then finds no node well for so long serves all the same: its clients wait, or are told."""
NAMES_SHOWN = 10
"""Nodes named in the line that counts them."""

_log = logging.getLogger("pointsman")


def main(config: ServeConfig, source: Source[ServeConfig]) -> int:
    """Serve until told to stop; returns the exit status. Raises ConfigError for settings that cannot be used.

    `config` is what `source` says now; it is read again while running.
    """
    return run(config, _serve(config, source))


def run(config: ServeConfig, process: Coroutine[Any, Any, int]) -> int:
    """Run `process` with logging as configured, on the loop that serves; returns its exit status."""
    log_as(config)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(process)


def log_as(config: ServeConfig, who: str = "%(name)s") -> None:
    """Log to standard error, as much as `config` says; `who` tells in logging's terms who speaks."""
    logging.basicConfig(level=config.log_level.upper(), format=f"%(asctime)s %(levelname)s {who}: %(message)s")


async def _serve(config: ServeConfig, source: Source[ServeConfig]) -> int:
    with ExitStack() as exit_stack:
        service = Service(config, source, exit_stack)
        try:
            await service.start()
        except CannotListen as error:
            _log.error("%s", error)
            return 1
        await service.until_stopped()
    return 0


class CannotListen(Exception):
    """A port cannot be had. The text names it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A process's place among several on one port: a number of its own, the socket it serves, the secret all share."""

    number: int
    listener: socket.socket
    chain_secret: bytes


class Service:
    """The whole gateway process. `start`, then `until_stopped`."""

    def __init__(
        self, config: ServeConfig, source: Source[ServeConfig] | None, exit_stack: ExitStack, place: Place | None = None
    ) -> None:
        """With `source` it keeps to that by itself; without, to what `configure` is told. Raises ConfigError."""
        plan = Plan.of(config)
        policies = policy_table(config)  # a table of its own: this one changes while running
        self._config = config
        self._place = place
        self._nodes = tuple(plan.nodes.values())
        self._retiring, self._stopping, self._hurrying = asyncio.Event(), asyncio.Event(), asyncio.Event()
        clock = WallClock()
        started = clock.now()
        brain = _brain(config, place)
        self.metrics = metrics = Metrics(lambda: dispatcher.settings.tenants)
        metrics.configured_at = unix_seconds()
        dispatcher = Dispatcher(brain, policies, now=started)
        epoch = unix_seconds() - clock.now()
        decisions = Decisions(dispatcher.fleet, epoch=epoch)
        stories = Stories(dispatcher.fleet, decisions, lambda: dispatcher.settings.order, epoch=epoch)
        for observer in (metrics, Log(_log), decisions, stories):
            dispatcher.subscribe(observer.handlers)
        settings = _settings(plan.gateway, place)
        if config.recording:
            dispatcher.subscribe(_recorder(config, place, epoch, settings.chain_secret, exit_stack).handlers)
        if config.usage:
            dispatcher.subscribe(_usage_log(config, place, epoch, exit_stack).handlers)
        if config.journal:
            path = _of(config.journal, place)
            dispatcher = _journaled(dispatcher, path, begin(brain, policies, started), exit_stack)
        self.gateway = Gateway(settings, dispatcher, clock)
        self.gateway.continuing.tell = metrics.continuation_probed
        dispatcher.subscribe({NodeChanged: self.gateway.node_changed})
        self._configured = Configured(plan, self.gateway, dispatcher)
        self._reload = Reload(source, plan, self._configured.apply, self._reloaded) if source else None
        self.services = Services(
            dispatcher,
            self.gateway.driver.execute,
            clock,
            metrics,
            decisions,
            stories,
            ready=lambda: not self.gateway.lame,
            admit=lambda node: Origin.parse(node.url),
            warm=self.gateway.warm,
            pin=self.gateway.pin,
        )
        self._admin = web.AppRunner(application(Local(self.services), admin_hosts(config)), access_log=None)

    async def start(self) -> None:
        """Listen on both ports. Raises CannotListen."""
        with listening(self._config.listen, "data"):
            await self.gateway.start(self._nodes)
        await listen_for_admin(self._config, self._admin)
        _settle()
        tell_addresses(self._config, self.gateway.port, self._admin, self._nodes)

    def join(self) -> None:
        """Let the nodes join, without listening yet."""
        self.gateway.join(self._nodes)

    async def start_in_place(self) -> None:
        """Get to know the nodes, then listen: whoever connects meanwhile waits, or is served by another process."""
        assert self._place is not None
        if not await self._available(len(self._nodes), ALL_READY_S):
            await self._available(1, READY_S)
        await self.gateway.listen(self._place.listener)
        _settle()

    async def _available(self, nodes: int, within_s: float) -> bool:
        """Whether so many nodes are well in time, or nobody waits for them any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self._nodes and self.gateway.dispatcher.available() < nodes and not self._stopping.is_set():
                    await asyncio.sleep(0.02)
                return True
        return False

    def stop(self) -> None:
        """Stop gently."""
        self._stopping.set()

    def stop_sooner(self) -> None:
        """Stop gently; told again: at once."""
        (self._hurrying if self._stopping.is_set() else self._stopping).set()

    def stop_now(self) -> None:
        """Stop at once."""
        self._stopping.set()
        self._hurrying.set()

    def configure(self, config: ServeConfig) -> None:
        """Go by `config` from now on; if it cannot be used, that is logged and nothing changes."""
        try:
            self._configured.apply(Plan.of(config))
        except ConfigError as error:
            _log.error("the configuration stays as it was: %s", error)
            self._reloaded(False)
        else:
            self.metrics.configured_at = unix_seconds()

    def retire(self) -> None:
        """Leave the port to another process that serves it."""
        self._retiring.set()

    async def until_stopped(self) -> None:
        """Serve until told to, or SIGTERM or SIGINT, then stop gently; a second signal stops now."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            # Whoever signals a whole group, as systemd does, tells a worker what its supervisor tells it too.
            loop.add_signal_handler(number, self.stop_sooner if self._place is None else self.stop)
        if self._reload is not None:
            loop.add_signal_handler(signal.SIGHUP, self._reload.ask)
            loop.add_signal_handler(signal.SIGUSR2, _no_workers)
            self._reload.start()
        if not await _done(self._retiring.wait(), unless=self._stopping):
            await self._stop()
        elif await _done(self.gateway.retire(), unless=self._stopping):
            self.gateway.stop_now()
        else:
            await self._stop()
        await self._admin.cleanup()

    def _reloaded(self, well: bool) -> None:
        self.metrics.reloaded(well, unix_seconds())

    async def _stop(self) -> None:
        if self._reload is not None:
            self._reload.stop()
        _log.info(
            "stopping: still serving for %g s (requests under way: %d)%s",
            self._config.timeouts.lame_duck_s,
            self.gateway.driver.open_requests,
            "; press Ctrl-C again to stop now" if self._place is None else "",
        )
        await _done(self.gateway.stop(), unless=self._hurrying)
        _log.info("stopped")


async def _done(work: Coroutine[Any, Any, Any], unless: asyncio.Event) -> bool:
    """Whether `work` came to its end before `unless` was set; if not, it is cancelled."""
    working, interrupted = asyncio.ensure_future(work), asyncio.ensure_future(unless.wait())
    await asyncio.wait((working, interrupted), return_when=asyncio.FIRST_COMPLETED)
    done = working.done()
    working.cancel()
    interrupted.cancel()
    await asyncio.gather(working, interrupted, return_exceptions=True)
    return done


async def listen_for_admin(config: ServeConfig, runner: web.AppRunner) -> None:
    """Serve the admin application, if it has a port. Raises CannotListen."""
    if config.admin_listen:
        host, port = address(config.admin_listen, "admin_listen")
        await runner.setup()
        with listening(config.admin_listen, "admin"):
            await web.TCPSite(runner, host, port).start()


def tell_addresses(config: ServeConfig, port: int, admin: web.AppRunner, nodes: Sequence[NodeSpec]) -> None:
    """Say in the log where it serves (on which port, where any would do), for how many nodes, and what is idle."""
    admin_port = admin.addresses[0][1] if config.admin_listen else 0
    _log.info("listening on %s, admin on %s", _at(config.listen, port), _at(config.admin_listen, admin_port))
    _log.info("%s", _counted(nodes))
    for setting in idle(config):
        _log.warning("without effect: %s", setting)


def _at(address: str, port: int) -> str:
    return f"{address.rpartition(':')[0]}:{port}" if address else "no port"


def _brain(config: ServeConfig, place: Place | None) -> BrainSettings:
    """Each process draws otherwise: equal draws would send all of them to one node at a time."""
    brain = brain_settings(config)
    return brain if place is None else msgspec.structs.replace(brain, seed=brain.seed + place.number)


def _of(path: str, place: Place | None) -> str:
    """This process's own file, where several are told to write `path`."""
    return path if place is None else f"{path}.{place.number}"


def _settings(settings: GatewaySettings, place: Place | None) -> GatewaySettings:
    if place is None or settings.chain_secret:
        return settings
    return msgspec.structs.replace(settings, chain_secret=place.chain_secret)


def _settle() -> None:
    """What lives now lives on: the collector need not look at it again. And connections are open files."""
    allow_open_files()
    gc.collect()
    gc.freeze()


@contextmanager
def listening(address: str, which: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        flag = "--admin-listen" if which == "admin" else "--listen"
        raise CannotListen(f"cannot listen on {address}, the {which} port: {why}; {flag} names another") from None


def _no_workers() -> None:
    """SIGUSR2, unheard, would end the process and all its streams."""
    _log.warning("SIGUSR2 replaces workers, and there are none: start with --workers 2 or more for that")


def _counted(nodes: Sequence[NodeSpec]) -> str:
    if not nodes:
        return "no nodes: add one with --node or POST /nodes"
    names = [node.name for node in nodes[:NAMES_SHOWN]] + ["..."] * (len(nodes) > NAMES_SHOWN)
    return f"{len(nodes)} node{'s' * (len(nodes) > 1)}: {', '.join(names)}"


def _journaled(dispatcher: Dispatcher, path: str, how: Begin, exit_stack: ExitStack) -> Dispatcher:
    """The same methods, every call written to the journal at `path`."""
    journal = open_journal(path)
    exit_stack.callback(_close, journal)
    return cast(Dispatcher, Journaled(dispatcher, how, journal.write))


def _recorder(config: ServeConfig, place: Place | None, epoch: float, secret: bytes, exit_stack: ExitStack) -> Recorder:
    """Writes what came of requests to this process's recording."""
    file = open_recording(_of(config.recording, place), config.recording_mb)
    recorder = Recorder(file.write, epoch=epoch, secret=secret or os.urandom(16))
    flushing = Flushing(recorder)
    flushing.start()
    exit_stack.callback(file.close)
    exit_stack.callback(flushing.close)
    return recorder


def _usage_log(config: ServeConfig, place: Place | None, epoch: float, exit_stack: ExitStack) -> UsageLog:
    """Writes this process's usage records."""
    file = open_usage(_of(config.usage, place))
    usage = UsageLog(file.write, epoch=epoch)
    flushing = Flushing(usage)
    flushing.start()
    exit_stack.callback(file.close)
    exit_stack.callback(flushing.close)
    return usage


def _close(journal: BinaryIO) -> None:
    try:
        journal.close()
    except OSError as error:
        _log.error("the journal lacks its end: %s", error)


def allow_open_files() -> None:
    """A connection is an open file, and the usual soft limit of 1024 is not meant for servers."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
