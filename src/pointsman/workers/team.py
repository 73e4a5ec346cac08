"""The workers of one port: keeps each slot served, replaces workers one by one, ends them all.

Strategy: a slot is a listening socket and, most of the time, one worker that serves it. A worker that ends unasked is
followed by another at once, and after a growing pause if it did not live long; one that hangs is ended. To replace one,
its successor is started on the same socket and, once that serves, the old one is told to retire: at no moment is the
slot without a worker that accepts, and the old one refuses nobody.
"""

import asyncio
import logging
import socket
from collections.abc import Collection, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any

from pointsman.brain.hub import Hub
from pointsman.brain.model.sharing import Share
from pointsman.clock import Clock
from pointsman.config.serve import ServeConfig
from pointsman.observe.metrics import Metrics
from pointsman.observe.tally import add
from pointsman.workers.changes import Changes
from pointsman.workers.messages import Configure, Heard, Retire, Stop, Welcome
from pointsman.workers.process import NoAnswer, Worker
from pointsman.workers.sockets import another

GATHER_S = 0.02
"""What one worker tells waits so long for what others tell: one report instead of several."""
START_S = 60.0
"""A worker that does not serve after this is given up."""
STEADY_S = 10.0
"""One that lived so long ended by accident: another follows at once. Else the pause doubles each time."""
HEED_S = 5.0
"""How often a worker is asked whether it still answers."""
SILENCES = 3
"""One that did not so many times in a row, each of `process.ANSWER_S`, hangs. A pause of the machine counts once."""
PAUSE_S = 0.25
LONGEST_PAUSE_S = 8.0

_log = logging.getLogger("pointsman")


class CannotStart(Exception):
    """A worker cannot be started, or ended before it served, and has said why."""


class Team:
    """`start`, then `ended`. `serving` are the workers that answer questions, retiring ones included."""

    def __init__(self, config: ServeConfig, sockets: list[socket.socket], secret: bytes, clock: Clock) -> None:
        self.changes = Changes()
        self.hub = Hub()
        self.counted = Metrics()  # by workers that are gone
        self.workers: dict[int, Worker] = {}
        self.restarts = 0
        self._config = config
        self._sockets = sockets
        self._secret = secret
        self._clock = clock
        self._numbers = count(1)
        self._current: list[Worker | None] = [None] * len(sockets)
        self._quick_ends = [0] * len(sockets)
        self._stop_told = asyncio.Event()
        self._round_due = False
        self._replacing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def _stopping(self) -> bool:
        return self._stop_told.is_set()

    @property
    def serving(self) -> list[Worker]:
        """Workers that have begun to serve and have not ended, the oldest first."""
        return [worker for worker in self.workers.values() if worker.serves]

    async def start(self) -> None:
        """Start a worker for each socket; all serve when this returns. Raises CannotStart."""
        try:
            started = [await self._start(slot) for slot in range(len(self._sockets))]
        except OSError as error:
            raise CannotStart(f"a worker cannot be started: {error}") from None
        self._current = list(started)
        if not all([await self._serves(worker) for worker in started]):
            raise CannotStart("a worker ended before it served")

    async def replace_all(self) -> None:
        """Replace every worker, one after the other; the rest stay as they are if a successor does not serve."""
        for slot in range(len(self._sockets)):
            if not await self.replace(slot):
                if not self._stopping:
                    _log.error("the workers are not replaced: a successor did not serve")
                return
        _log.info("all workers are replaced")

    async def renew(self, worker: Worker) -> None:
        """Replace this worker, unless it is leaving anyway."""
        if self._current[worker.slot] is worker:
            await self.replace(worker.slot)

    async def replace(self, slot: int) -> bool:
        """Replace the slot's worker; false if its successor does not serve, then the old one stays."""
        async with self._replacing:
            if self._stopping or not self._listens(slot):
                return False
            try:
                successor = await self._start(slot)
            except OSError as error:
                _log.error("a worker cannot be started: %s", error)
                return False
            if not await self._serves(successor):
                successor.kill()
                return False
            old, self._current[slot] = self._current[slot], successor
            if old is not None:
                old.send(Retire())
            return True

    def configure(self, config: ServeConfig, nodes: Collection[str], scopes: Collection[str]) -> None:
        """Let every worker go by `config`, and those that come; it says something new of these nodes and scopes."""
        self._config = config
        self.changes.overrule(nodes, scopes)
        for worker in self.workers.values():
            worker.send(Configure(config))

    def stop(self) -> None:
        """End every worker gently; told again: at once."""
        self._stop_told.set()
        for worker in self.workers.values():
            worker.send(Stop())

    def kill(self) -> None:
        """End every worker, whatever it does."""
        self._stop_told.set()
        for worker in self.workers.values():
            worker.kill()

    async def ended(self) -> None:
        """Wait until no worker is left."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def _start(self, slot: int) -> Worker:
        """Raises OSError."""
        worker = Worker(next(self._numbers), slot, self._told)
        listener = self._sockets[slot]
        file = listener.fileno()
        await worker.start(listener)
        # From here to where it is one of the workers nothing is waited for: what all were told meanwhile stands in its
        # welcome, what they are told later it is told too.
        worker.send(Welcome(worker.number, file, self._secret, self._config, self.changes.made()))
        if self._stopping:
            worker.kill()
        self.workers[worker.number] = worker
        self.hub.join(worker.number)
        self._round()
        self._do(self._watch(worker, self._clock.now()))
        self._do(self._teach(worker))
        return worker

    async def _teach(self, worker: Worker) -> None:
        """Let a new worker believe what the others do: it would send prompts anywhere but to their caches."""
        for other in self.serving:
            with suppress(NoAnswer):
                self.hub.recall(worker.number, await other.recall())
                self._soon()
                return

    async def _serves(self, worker: Worker) -> bool:
        try:
            async with asyncio.timeout(START_S):
                return await asyncio.shield(worker.ready)
        except TimeoutError:
            return False

    async def _watch(self, worker: Worker, started: float) -> None:
        """Wait for the worker's end, account for it, and let another follow if nobody asked for it."""
        heeding = asyncio.ensure_future(self._heed(worker))
        status = await worker.ended()
        heeding.cancel()
        del self.workers[worker.number]
        self.hub.leave(worker.number)
        self._soon()
        if worker.last is not None:
            add(self.counted, worker.last.tally)
        if self._current[worker.slot] is worker:
            self._current[worker.slot] = None
            if worker.serves and not self._stopping:
                _log.error("worker %d (process %d) ended: %s", worker.number, worker.pid, _how(status))
                await self._follow(worker.slot, self._clock.now() - started)

    async def _heed(self, worker: Worker) -> None:
        """Kill the worker once it hangs: its streams are lost anyway, and new connections would go on coming to it."""
        silences = 0
        while silences < SILENCES:
            await asyncio.sleep(HEED_S)
            if worker.serves:
                silences = 0 if await worker.count() else silences + 1
        _log.error("worker %d (process %d) does not answer any more, and is killed", worker.number, worker.pid)
        worker.kill()

    async def _follow(self, slot: int, lived_s: float) -> None:
        """Keep trying until the slot has a worker again; after the first failure without the slot's socket."""
        while not self._stopping and self._current[slot] is None:
            if await self._stopped_within(self._pause(slot, lived_s)):
                return
            self.restarts += 1
            began = self._clock.now()
            if not await self.replace(slot) and not self._stopping and any(self._current):
                _log.error("no worker can be had in place of one that ended; the others go on without it")
                self._sockets[slot].close()
            lived_s = self._clock.now() - began

    def _listens(self, slot: int) -> bool:
        """Whether the slot has its socket, or can have it again."""
        if self._sockets[slot].fileno() < 0:
            try:
                self._sockets[slot] = another(next(each for each in self._sockets if each.fileno() >= 0))
            except OSError as error:
                _log.error("a worker cannot listen: %s", error)
                return False
        return True

    async def _stopped_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop_told.wait()
        return self._stopping

    def _pause(self, slot: int, lived_s: float) -> float:
        ends = self._quick_ends[slot] = 0 if lived_s >= STEADY_S else self._quick_ends[slot] + 1
        return 0.0 if ends <= 1 else min(LONGEST_PAUSE_S, PAUSE_S * 2.0 ** (ends - 2))

    def _told(self, worker: Worker, share: Share) -> None:
        self.hub.tell(worker.number, share)
        self._soon()

    def _soon(self) -> None:
        if not self._round_due:
            self._round_due = True
            asyncio.get_running_loop().call_later(GATHER_S, self._round)

    def _round(self) -> None:
        """Report to every worker that keeps up."""
        self._round_due = False
        for worker in self.workers.values():
            if not worker.link.behind:
                report = self.hub.report(worker.number)
                if report is not None:
                    worker.send(Heard(report))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _how(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {-status}"
