"""`pointsman serve`: settings, brain, observers, gateway and admin port put together."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, cast

import uvloop
from aiohttp import web

from pointsman.admin.application import application
from pointsman.admin.services import Services
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import Fact
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.policies.table import PolicyTable
from pointsman.clock import WallClock, unix_seconds
from pointsman.config.serve import ServeConfig, address, all_nodes, gateway_settings, open_journal, policy_table
from pointsman.gateway.app import Gateway
from pointsman.gateway.origin import Origin
from pointsman.observe.calls import Begin
from pointsman.observe.decisions import Decisions
from pointsman.observe.log import Log
from pointsman.observe.metrics import Metrics
from pointsman.observe.record import Journaled, begin

NAMES_SHOWN = 10
"""Nodes named in the line that counts them."""

_log = logging.getLogger("pointsman")


def main(config: ServeConfig) -> int:
    """Serve until told to stop; returns the exit status. Raises ConfigError for settings that cannot be used."""
    logging.basicConfig(level=config.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config))


async def _serve(config: ServeConfig) -> int:
    with ExitStack() as exit_stack:
        service = Service(config, policy_table(config), exit_stack)
        try:
            await service.start()
        except CannotListen as error:
            _log.error("%s", error)
            return 1
        await service.until_stopped()
    return 0


class CannotListen(Exception):
    """A port cannot be had. The text names it."""


class Service:
    """The whole gateway process. `start`, then `until_stopped`."""

    def __init__(self, config: ServeConfig, policies: PolicyTable, exit_stack: ExitStack) -> None:
        self._config = config
        self._nodes = all_nodes(config)
        clock = WallClock()
        started = clock.now()
        metrics = Metrics()
        # Two of the observers can be made only when the dispatcher is there.
        observers: list[Callable[[Fact], None]] = [
            metrics,
            Log(_log),
            lambda fact: decisions(fact),
            lambda fact: self._gateway.observe(fact),
        ]
        dispatcher = Dispatcher(config.brain, policies, observers, started)
        decisions = Decisions(dispatcher.fleet, epoch=unix_seconds() - clock.now())
        if config.journal:
            dispatcher = _journaled(dispatcher, config.journal, begin(config.brain, policies, started), exit_stack)
        self._gateway = Gateway(gateway_settings(config), dispatcher, clock)
        services = Services(
            dispatcher,
            self._gateway.driver.execute,
            clock,
            metrics,
            decisions,
            ready=lambda: not self._gateway.lame,
            admit=lambda node: Origin.parse(node.url),
        )
        self._admin = web.AppRunner(application(services), access_log=None)

    async def start(self) -> None:
        """Listen on both ports. Raises CannotListen."""
        with _listening(self._config.listen, "data"):
            await self._gateway.start(self._nodes)
        if self._config.admin_listen:
            host, port = address(self._config.admin_listen, "admin_listen")
            await self._admin.setup()
            with _listening(self._config.admin_listen, "admin"):
                await web.TCPSite(self._admin, host, port).start()
        _allow_open_files()
        # What lives now lives on: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        _log.info("listening on %s, admin on %s", self._config.listen, self._config.admin_listen or "no port")
        _log.info("%s", _counted(self._nodes))

    async def until_stopped(self) -> None:
        """Serve until SIGTERM or SIGINT, then stop gently; a second signal stops now."""
        first, second = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: (second if first.is_set() else first).set())
        await first.wait()
        _log.info(
            "stopping: still serving for %g s (requests under way: %d); press Ctrl-C again to stop now",
            self._config.timeouts.lame_duck_s,
            self._gateway.driver.open_requests,
        )
        stopping = loop.create_task(self._gateway.stop())
        hurry = loop.create_task(second.wait())
        await asyncio.wait((stopping, hurry), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        hurry.cancel()
        await asyncio.gather(stopping, hurry, return_exceptions=True)
        await self._admin.cleanup()


@contextmanager
def _listening(address: str, which: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        raise CannotListen(f"cannot listen on {address}, the {which} port: {why}") from None


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


def _close(journal: BinaryIO) -> None:
    try:
        journal.close()
    except OSError as error:
        _log.error("the journal lacks its end: %s", error)


def _allow_open_files() -> None:
    """A connection is an open file, and the usual soft limit of 1024 is not meant for servers."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
