"""What all cells share: a gateway inside this process on real sockets, emulated engines beside it, their records."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.facts import NodeChanged
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest_then
from pointsman.brain.policies.table import PolicyTable
from pointsman.clock import WallClock
from pointsman.gateway.app import Gateway, GatewaySettings
from pointsman.gateway.settings import Timeouts
from pointsman.observe.metrics import Metrics

from .black_hole import BlackHoles, unavailable
from .engines import EngineProcess
from .lateness import Lateness
from .ledger import Ledger

PATIENCE_S = 0.5
"""For a first token and for the next one: what is 30 and 60 s in earnest."""
CONNECT_S = 0.3
BRAIN = BrainSettings(
    queue_timeout_s=5.0,
    first_token_floor_s=PATIENCE_S,
    first_token_ceiling_s=PATIENCE_S,
    retry_floor=1000,  # cells are not to compete for retries
)
TIMEOUTS = Timeouts(connect_s=CONNECT_S, between_tokens_s=PATIENCE_S, lame_duck_s=0.0, drain_s=1.0)

_COUNTERS = ("requests", "tries", "refused", "queued", "decisions", "transitions", "probe_failures")


class Engines:
    """Engine processes, which outlive gateways: one that runs, and some that may be stopped, one cell at a time."""

    def __init__(self, folder: Path, models: int, stoppable: int) -> None:
        names = tuple(model_name(number) for number in range(models))
        self.running = EngineProcess(folder, "engine", names)
        self.black_holes: BlackHoles | None = None if unavailable() else BlackHoles()
        self._victims = [EngineProcess(folder, f"victim{number}", names) for number in range(stoppable)]
        self.stoppable: asyncio.Queue[EngineProcess] = asyncio.Queue()
        self.heavy = asyncio.Lock()  # one endless event at a time: each costs the loop a tenth of a second
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if self.black_holes is not None:
            self._stack.enter_context(self.black_holes)
        await asyncio.gather(*[self._stack.enter_async_context(each) for each in (self.running, *self._victims)])
        for victim in self._victims:
            self.stoppable.put_nowait(victim)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


class Listed(Policy):
    """Fewest outstanding requests; among equals always the same node, so that a cell knows which one it strikes."""

    name = "listed"

    def score(self, request: Request, view: View) -> Scores:
        return view.outstanding

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest_then(scores, view.identity, view.draw), scores, "listed")


class World:
    """A gateway without nodes, as an asynchronous context manager. `wrong` is what went wrong beside the cells.

    `name` makes its request ids its own: the engines outlive it.
    """

    def __init__(self, engines: Engines, name: str, timeouts: Timeouts = TIMEOUTS) -> None:
        self.engines = engines
        self.name = name
        self.ledger = Ledger()
        self.metrics = Metrics()
        self.clock = WallClock()
        self.wrong: list[str] = []
        self.lateness = Lateness()
        self._counters: dict[tuple[str, tuple[str, ...]], int] = {}
        observers: list[Callable[..., None]] = [self.ledger, self.metrics]
        policies = PolicyTable(Listed())
        self.dispatcher = Dispatcher(BRAIN, policies, observers, self.clock.now())
        self.gateway = Gateway(GatewaySettings(port=0, timeouts=timeouts), self.dispatcher, self.clock)
        self.dispatcher.subscribe({NodeChanged: self.gateway.node_changed})
        self._logged = _Errors(self.wrong)

    async def __aenter__(self) -> Self:
        self._tasks, self._files = len(asyncio.all_tasks()), open_files()
        logging.getLogger().addHandler(self._logged)
        asyncio.get_running_loop().set_exception_handler(lambda _, what: self.wrong.append(f"loop: {what}"))
        await self.gateway.start([])
        await self.lateness.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and see that nothing is left."""
        await self.lateness.__aexit__()
        self.wrong += self.ledger.wrong
        if self.gateway.driver.open_requests or not self.dispatcher.at_rest():
            self.wrong.append(f"{self.gateway.driver.open_requests} requests are still open")
        await self.gateway.stop()
        if not await until(lambda: len(asyncio.all_tasks()) <= self._tasks and open_files() <= self._files, 2.0):
            tasks = [str(task.get_coro()) for task in asyncio.all_tasks()]
            self.wrong.append(f"left over: {open_files() - self._files} files, tasks {tasks}")
        logging.getLogger().removeHandler(self._logged)
        asyncio.get_running_loop().set_exception_handler(None)

    def check_counters(self) -> None:
        """See that no counter has fallen since the last look. Series of nodes that are gone may be missing."""
        now = {(name, labels): n for name in _COUNTERS for labels, n in getattr(self.metrics, name).items()}
        fallen = [key for key, count in self._counters.items() if now.get(key, count) < count]
        self.wrong += [f"the counter {key} fell" for key in fallen]
        self._counters = now


class _Errors(logging.Handler):
    """Whatever is logged as an error is wrong."""

    def __init__(self, wrong: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._wrong = wrong

    def emit(self, record: logging.LogRecord) -> None:
        self._wrong.append(f"log: {self.format(record)}")


def model_name(number: int) -> str:
    """The model of the cell of that number."""
    return f"m{number}"


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def until(true: Callable[[], bool], within_s: float) -> bool:
    """Wait for it; false if it does not come true in time."""
    end = asyncio.get_running_loop().time() + within_s
    while not true():
        if asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.004)
    return True
