"""A scene's world: engines, the gateway, the admin port, the audits; everything is ended with the block."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from pointsman.demo.children import end_all
from pointsman.demo.http import call, until_ready
from scene.admin import UP_WITHIN_S, Admin, all_up
from scene.asks import MODEL
from scene.audit import Audits
from scene.processes import Engine, Gateway, Process
from scene.usage import tree

NAMES = ("a", "b", "c")


@dataclass(frozen=True, slots=True)
class Plan:
    """Three equal engines and a gateway. `engine` holds flags of the engines, `settings` keys of the gateway's file,
    `node` what the gateway is told of each engine."""

    engine: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    node: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = (MODEL,)
    workers: int = 1


class World:
    """What runs, and everybody's account of it."""

    def __init__(self, plan: Plan, folder: Path, session: aiohttp.ClientSession) -> None:
        self.plan = plan
        self.folder = folder
        self.session = session
        self.engines = {name: Engine(name, plan.models, plan.engine, folder) for name in NAMES}
        nodes = [{"url": self.node_url(each), "id": each.name, **plan.node} for each in self.engines.values()]
        self.gateway = Gateway(plan.settings, nodes, folder, plan.workers)
        self.admin = Admin(session, self.gateway.admin_url)
        self.audits = Audits({each.name: each.audit_log for each in self.engines.values()})

    def node_url(self, engine: Engine) -> str:
        """Where the gateway is to find the engine."""
        return engine.url

    async def start(self) -> None:
        """Start everything and wait until every node is up. Raises DemoError for a process that does not start."""
        for process in self._processes():
            process.start()
        await asyncio.gather(*(self.engine_ready(each) for each in self.engines.values()))
        await until_ready(self.session, f"{self.gateway.admin_url}/healthz", self.gateway.check)
        await self.admin.until(all_up, UP_WITHIN_S)

    async def engine_ready(self, engine: Engine) -> None:
        await until_ready(self.session, f"{engine.url}/health", engine.check)

    async def fault(self, engine: Engine, **fault: Any) -> None:
        """Put a fault in force at an engine."""
        await call(self.session, "POST", f"{engine.url}/admin/faults", fault)

    async def heal(self) -> None:
        """No engine has a fault any more."""
        for engine in self.engines.values():
            await call(self.session, "DELETE", f"{engine.url}/admin/faults")

    def pids(self) -> list[int]:
        """The gateway's processes."""
        return tree(self.gateway.pid)

    def troubles(self) -> list[str]:
        """Errors nobody handled, from every log."""
        return [line for process in self._processes() for line in process.troubles()]

    def end(self) -> None:
        """End everything. Harmless when it has ended."""
        end_all([process.child for process in self._processes() if process.child is not None])

    def _processes(self) -> list[Process]:
        return [*self.engines.values(), self.gateway]


Kind = TypeVar("Kind", bound=World)


@asynccontextmanager
async def world(plan: Plan, keep: str | None = None, kind: type[Kind] = World) -> AsyncIterator[Kind]:
    """A started world of that kind. Its files are in the folder `keep`, if given, and then stay."""
    with _folder(keep) as folder:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
            made = kind(plan, folder, session)
            try:
                await made.start()
                yield made
            finally:
                await asyncio.to_thread(made.end)


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    folder = Path(keep) if keep else Path(tempfile.mkdtemp(prefix="faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
