"""A gateway of several worker processes, before nodes in the test's own loop that count what they are given."""

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvloop
from prometheus_client.parser import text_string_to_metric_families
from tests.e2e.gateway.conftest import Client
from tests.e2e.gateway.scripted_upstream import DONE, ROLE, STREAM_HEAD, Received, ScriptedUpstream, chunk, event

from pointsman.demo.children import free_ports


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


class Engine(ScriptedUpstream):
    """Streams a few events, `gap_s` apart, and counts how many streams run at once: each until its last event.

    Until `goes_on` is set, which it is unless `held`, every stream stands still after its first event.
    """

    def __init__(self, gap_s: float = 0.02, *, held: bool = False) -> None:
        super().__init__(self.play)
        self.gap_s = gap_s
        self.running = 0
        self.most = 0
        self.goes_on = asyncio.Event()
        if not held:
            self.goes_on.set()

    async def play(self, _: Received, writer: asyncio.StreamWriter) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            writer.write(STREAM_HEAD)
            for each in (ROLE, *[event({"content": "x"})] * 5):
                writer.write(chunk(each))
                await self.goes_on.wait()
                await asyncio.sleep(self.gap_s)
        finally:
            self.running -= 1
        writer.write(chunk(event({}, "stop")) + chunk(DONE) + b"0\r\n\r\n")


class Site:
    """`start` a gateway; `engines` are its nodes. All is ended with the test."""

    def __init__(self, stack: AsyncExitStack, folder: Path) -> None:
        self._stack = stack
        self.folder = folder
        self.engines: list[Engine] = []
        self.port, self.admin_port = free_ports(2)

    async def start(
        self, *engines: Engine, slots: int = 16, kv_tokens: int = 100_000, workers: int = 2, more: str = ""
    ) -> "Site":
        for engine in engines:
            self.engines.append(await self._stack.enter_async_context(engine))
        nodes = ", ".join(
            f'{{ id = "{number}", url = "{engine.url}", models = ["m"], slots = {slots}, kv_tokens = {kv_tokens} }}'
            for number, engine in enumerate(engines)
        )
        self.config = self.folder / "pointsman.toml"
        self.config.write_text(
            f'listen = "127.0.0.1:{self.port}"\nadmin_listen = "127.0.0.1:{self.admin_port}"\nworkers = {workers}\n'
            f'policy = "least_requests"\nnodes = [{nodes}]\n{more}\n'
            "[timeouts]\nlame_duck_s = 0.3\n[brain]\nslow_start_s = 0\n"
        )
        command = [sys.executable, "-m", "pointsman", "serve", "--config", str(self.config)]
        self.process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        self._stack.push_async_callback(self._end)
        self.session = await self._stack.enter_async_context(
            aiohttp.ClientSession(base_url=f"http://127.0.0.1:{self.admin_port}")
        )
        await self.until(self.ready, 20.0)
        return self

    async def ready(self) -> bool:
        try:
            async with self.session.get("/readyz") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def not_ready(self) -> bool:
        return not await self.ready()

    async def admin(self, path: str, method: str = "GET", **given: Any) -> Any:
        async with self.session.request(method, path, **given) as answer:
            assert answer.status < 300, await answer.text()
            return await answer.json() if answer.status != 204 else None

    async def nodes(self) -> dict[str, Any]:
        return {node["id"]: node for node in await self.admin("/nodes")}

    async def metrics(self) -> dict[str, float]:
        """Every sample by its name, added up over its labels."""
        async with self.session.get("/metrics") as answer:
            text = await answer.text()
        sums: Counter[str] = Counter()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                sums[sample.name] += sample.value  # type: ignore[assignment]
        return dict(sums)

    async def ask(self, client: Client, prompt: str = "hi") -> tuple[int, bool]:
        """One stream over a kept connection: the status (0 if it is not whole), and whether it was the last one."""
        response = await client.ask({"model": "m", "messages": [{"role": "user", "content": prompt}], "stream": True})
        whole = response.complete and response.body.endswith(DONE)
        return response.status if whole or response.status != 200 else 0, response.headers.get("connection") == "close"

    async def one(self) -> int:
        """One stream over a connection of its own."""
        async with Client(self.port) as client:
            return (await self.ask(client))[0]

    async def workers(self) -> list[int]:
        """The process ids of the supervisor's children."""
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return sorted(int(pid) for each in children for pid in each.read_text().split())

    async def replaced(self, before: list[int]) -> bool:
        """Whether other workers have taken the place of all of these."""
        now = await self.workers()
        return len(now) == len(before) and not set(now) & set(before)

    async def until(self, true: Callable[[], Any], within_s: float = 15.0) -> None:
        async with asyncio.timeout(within_s):
            while not await true():
                await asyncio.sleep(0.02)

    async def run(self, count: int) -> None:
        """Wait until so many streams run on the engines."""

        async def they_run() -> bool:
            return sum(engine.running for engine in self.engines) == count

        await self.until(they_run)

    def go_on(self) -> None:
        """Let the streams that stand still go on, and all that come."""
        for engine in self.engines:
            engine.goes_on.set()

    async def at_rest(self) -> bool:
        """Nothing is booked anywhere."""
        counts = ("outstanding", "running", "backlog_tokens", "kv_reserved")
        return all(node[count] == 0 for node in (await self.nodes()).values() for count in counts)

    async def words(self) -> str:
        """End it, and what it has said."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        _, words = await asyncio.wait_for(self.process.communicate(), 10)
        return words.decode()

    async def _end(self) -> None:
        pids = await self.workers() if self.process.returncode is None else []
        if self.process.returncode is None:
            self.process.kill()
            _, words = await self.process.communicate()
            sys.stderr.write(words.decode())  # shown where a test failed
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        yield Site(stack, tmp_path)
