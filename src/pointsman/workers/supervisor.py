"""`pointsman serve --workers N`: the process that owns the sockets and the admin port, and keeps N workers running.

SIGTERM and SIGINT stop all of it as they stop a single gateway. SIGUSR2 replaces the workers one by one, without
refusing a request. The configuration is read here, again when it changes or on SIGHUP, and handed to the workers: so
all go by the same, a worker that starts while the file cannot be used too.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Awaitable
from typing import Any

from aiohttp import web

from pointsman.admin.application import application
from pointsman.clock import WallClock, unix_seconds
from pointsman.config.serve import ServeConfig, admin_hosts
from pointsman.config.source import Source
from pointsman.reload import Plan, Reload, differing
from pointsman.serve import CannotListen, allow_open_files, listen_for_admin, listening, run, tell_addresses
from pointsman.workers.everyone import Everyone
from pointsman.workers.sockets import listeners
from pointsman.workers.team import CannotStart, Team

HURRY_S = 5.0
"""A worker told to end at once is killed after this."""

_log = logging.getLogger("pointsman")


def main(config: ServeConfig, source: Source[ServeConfig]) -> int:
    """Serve until told to stop; returns the exit status. Raises ConfigError for settings that cannot be used.

    `config` is what `source` says now; it is read again while running.
    """
    return run(config, _supervise(Plan.of(config), source))


async def _supervise(plan: Plan, source: Source[ServeConfig]) -> int:
    supervisor = None
    try:
        supervisor = Supervisor(plan, source)
        await supervisor.start()
    except (CannotListen, CannotStart) as error:
        if supervisor is not None:
            await supervisor.give_up()
        _log.error("%s", error)
        return 1
    await supervisor.until_stopped()
    return 0


class Supervisor:
    """`start`, then `until_stopped`."""

    def __init__(self, plan: Plan, source: Source[ServeConfig]) -> None:
        """Takes the data port. Raises CannotListen."""
        settings, config = plan.gateway, plan.config
        self._plan = plan
        self._config = config
        allow_open_files()
        with listening(config.listen, "data"):
            self._sockets: list[socket.socket] = listeners(settings.host, settings.port, config.workers)
        secret = settings.chain_secret or os.urandom(16)
        self._team = Team(config, self._sockets, secret, WallClock())
        self._reload = Reload(source, plan, self._configure, self._reloaded)
        self._kept: set[asyncio.Future[Any]] = set()
        self._admin = web.AppRunner(application(Everyone(self._team, self._keep), admin_hosts(config)), access_log=None)
        self._stopping, self._hurrying = asyncio.Event(), asyncio.Event()

    async def start(self) -> None:
        """Start the workers, and listen on the admin port once they serve. Raises CannotListen, CannotStart.

        Told to stop meanwhile, it returns at once.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._reload.ask)
        if not await self._started():
            return
        await listen_for_admin(self._config, self._admin)
        loop.add_signal_handler(signal.SIGUSR2, lambda: self._keep(self._team.replace_all()))
        self._reload.start()
        port = self._sockets[0].getsockname()[1]
        tell_addresses(self._config, port, self._admin, tuple(self._plan.nodes.values()))
        pids = ", ".join(str(each.pid) for each in self._team.serving)
        _log.info("%d workers: %s; supervisor: %d", len(self._sockets), pids, os.getpid())

    async def _started(self) -> bool:
        """Start the workers; false if told to stop before all serve. Raises CannotStart."""
        starting = asyncio.ensure_future(self._team.start())
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if starting.done():
            starting.result()
            return True
        starting.cancel()
        return False

    async def until_stopped(self) -> None:
        """Serve until SIGTERM or SIGINT, then stop gently; a second signal stops now."""
        await self._stopping.wait()
        self._reload.stop()
        lame_duck_s = self._config.timeouts.lame_duck_s
        _log.info("stopping: still serving for %g s; press Ctrl-C again to stop now", lame_duck_s)
        self._team.stop()
        asyncio.get_running_loop().call_later(lame_duck_s, self._close)
        ended = asyncio.ensure_future(self._team.ended())
        hurry = asyncio.ensure_future(self._hurrying.wait())
        await asyncio.wait((ended, hurry), return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not ended.done():
            self._team.stop()
            await asyncio.wait((ended,), timeout=HURRY_S)
        await self.give_up()
        _log.info("stopped")

    async def give_up(self) -> None:
        """End whatever is left."""
        self._close()
        self._team.kill()
        await self._team.ended()
        await self._admin.cleanup()

    def _configure(self, plan: Plan) -> None:
        """Hand the plan's settings to every worker; what they change is no change of the admin API's any more."""
        before, self._plan = self._plan, plan
        logging.getLogger().setLevel(plan.config.log_level.upper())
        self._team.configure(
            plan.config, differing(before.nodes, plan.nodes), differing(before.policies, plan.policies)
        )

    def _reloaded(self, well: bool) -> None:
        self._team.counted.reloaded(well, unix_seconds())

    def _stop(self) -> None:
        (self._hurrying if self._stopping.is_set() else self._stopping).set()

    def _close(self) -> None:
        """Refuse who connects from now on: no worker would accept him."""
        for each in self._sockets:
            each.close()

    def _keep(self, work: Awaitable[Any]) -> None:
        """Run it without waiting, and hold it until it is done."""
        kept = asyncio.ensure_future(work)
        self._kept.add(kept)
        kept.add_done_callback(self._kept.discard)
