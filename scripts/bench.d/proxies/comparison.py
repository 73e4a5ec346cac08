"""A comparison: starts all proxies, measures them in turn, over and over, and keeps what each run gave.

All run at once and are measured interleaved, so that a noisy minute hits every row. A proxy that is missing, does not
start or answers with anything but a whole 200 is dropped with its reason; the others go on.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from .accounting import cpu_times, resident_mb, tree, used_us
from .catalogue import Proxy, Site, backend_command, environment
from .load import CONNECTIONS, STREAMS, Client, Failed, Load, arrive, connect, latency_ms, start_streams
from .running import child, free_ports, ready
from .summary import Row, Run

WARM_UP_S = 1.0
SETTLE_S = 1.0
"""After all are up, for what they still do from their start."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long and how hard: seconds of each measurement, times each is made, plain requests per second (0: as fast as
    they are answered)."""

    seconds: float
    repeats: int
    rate: float


@dataclass(slots=True)
class Running:
    """A started proxy and what was measured of it."""

    name: str
    port: int
    pid: int
    log: Path
    runs: list[Run] = field(default_factory=list)


class Comparison:
    """Processes live until `stack` is closed. `skipped` says why a proxy has no row."""

    def __init__(self, effort: Effort, folder: Path, stack: ExitStack) -> None:
        self.effort = effort
        self.folder = folder
        self.stack = stack
        self.ports: Iterator[int] = free_ports()
        self.backends = (next(self.ports), next(self.ports))
        self.backend = self.start("backend", self.backends[0], backend_command(self.backends))
        self.running: list[Running] = []
        self.skipped: dict[str, str] = {}

    def start(self, name: str, port: int, command: list[str]) -> Running:
        log = self.folder / f"{name}.log"
        return Running(name, port, self.stack.enter_context(child(command, environment(), log)), log)

    async def run(self, proxies: list[Proxy]) -> list[Row]:
        """The rows of those of `proxies` that could be measured, in their order. Raises Failed without a backend."""
        await ready(self.backend.port, self.backend.pid)
        await self.start_all(proxies)
        for _ in range(self.effort.repeats):
            self.backend.runs.append(await self.measure(self.backend))
            for each in list(self.running):
                await self.attempt(each)
        return [Row(each.name, each.runs) for each in self.running]

    async def start_all(self, proxies: list[Proxy]) -> None:
        for proxy in proxies:
            if proxy.command is None:
                self.skipped[proxy.name] = "not there (scripts/bench install)"
                continue
            port, own_port = islice(self.ports, 2)
            command = proxy.command(Site(port, own_port, self.backends, self.folder))
            self.running.append(self.start(proxy.name, port, command))
        for each in list(self.running):
            try:
                await ready(each.port, each.pid)
            except Failed as error:
                self.drop(each, f"{error}; {last_line(each.log)}")
        await asyncio.sleep(SETTLE_S)

    async def attempt(self, proxy: Running) -> None:
        try:
            proxy.runs.append(await self.measure(proxy))
        except (OSError, Failed) as error:
            self.drop(proxy, f"{error}; {last_line(proxy.log)}")

    def measured_backend(self) -> Row:
        """The backend asked without a proxy, in the same turns: its own CPU, and nearly no added latency."""
        return Row(self.backend.name, self.backend.runs)

    def drop(self, proxy: Running, why: str) -> None:
        self.running.remove(proxy)
        self.skipped[proxy.name] = why

    async def measure(self, proxy: Running) -> Run:
        """One run of all figures. Raises Failed for any answer that is not whole, OSError if none can be had."""
        seconds = self.effort.seconds
        direct = await asyncio.to_thread(latency_ms, self.backend.port, seconds / 4)
        through = await asyncio.to_thread(latency_ms, proxy.port, seconds / 4)
        plain, streamed = await self.cpu(proxy, streamed=False), await self.cpu(proxy, streamed=True)
        return Run(plain, streamed, through - direct, resident_mb(tree(proxy.pid)))

    async def cpu(self, proxy: Running, streamed: bool) -> float:
        """Microseconds per plain request, or per event of a stream."""
        load = Load()
        clients = await connect(load, proxy.port, STREAMS if streamed else CONNECTIONS, streamed)
        arriving = asyncio.create_task(start_streams(load, WARM_UP_S) if streamed else arrive(load, self.effort.rate))
        try:
            await asyncio.sleep(WARM_UP_S)
            return await self.used(proxy, load, streamed)
        finally:
            arriving.cancel()
            leave(clients)

    async def used(self, proxy: Running, load: Load, streamed: bool) -> float:
        pids = tree(proxy.pid)
        carried, before = load.carried(streamed), cpu_times(pids)
        await asyncio.sleep(self.effort.seconds)
        after, count = cpu_times(pids), load.carried(streamed) - carried
        if load.errors or not count:
            raise Failed(f"of {load.answers} answers, not a whole 200: {dict(load.errors) or 'all'}")
        return used_us(before, after) / count


def leave(clients: list[Client]) -> None:
    """Close the connections; what they still carry is cut."""
    for client in clients:
        client.transport.abort()


def last_line(log: Path) -> str:
    return (log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it logged nothing"])[-1]
