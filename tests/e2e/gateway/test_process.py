"""`pointsman serve` as a process: it starts, says so, and stops when told."""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .conftest import SOON_S, Client, chat
from .scripted_upstream import ROLE, ScriptedUpstream, event, never, standing

LISTENING = re.compile(rb"listening on \S+:(\d+), admin on (?:\S+:(\d+)|no port)")
PATIENCE_S = 60.0
"""Only stops a test that waits in vain: an interpreter takes its time to start and to end on a busy machine."""


class Process:
    """A gateway process on ports that the system chose; `port` is its data port, `admin` the other, if it has one."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.port = self.admin = 0
        self._said = b""

    async def start(self) -> None:
        command = [sys.executable, "-m", "pointsman", "serve", "--config", str(self.config)]
        self.process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)

    async def until_healthy(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self._until_listening()
            while True:
                async with Client(self.port) as client:
                    if (await client.ask(path="/health", method="GET")).status == 200:
                        return
                await asyncio.sleep(0.02)

    async def until_stopping(self, client: Client) -> int:
        """Until the first signal has arrived: the system makes one of two that it has not delivered.

        Returns the status of what was asked right behind the question that showed it.
        """
        async with asyncio.timeout(PATIENCE_S):
            while True:
                client.send(path="/health", method="GET")
                client.send(path="/v1/models", method="GET")
                health, models = await client.response(), await client.response()
                if health.status == 503:
                    return models.status
                await asyncio.sleep(0.01)

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)

    async def words(self) -> str:
        assert self.process.stderr is not None
        return (self._said + await self.process.stderr.read()).decode()

    async def _until_listening(self) -> None:
        assert self.process.stderr is not None
        while (found := LISTENING.search(self._said)) is None:
            line = await self.process.stderr.readline()
            assert line, f"it ended, saying: {self._said.decode()}"
            self._said += line
        self.port, self.admin = int(found[1]), int(found[2] or 0)


@pytest.fixture
def lame_duck_s() -> float:
    """How long the gateway serves on after it was told to stop."""
    return 0.0


@pytest.fixture
async def gateway(tmp_path: Path, lame_duck_s: float) -> AsyncIterator[tuple[Process, ScriptedUpstream]]:
    """A healthy gateway before one node."""
    async with ScriptedUpstream(never) as node:
        config = tmp_path / "pointsman.toml"
        config.write_text(
            f'listen = "127.0.0.1:0"\nadmin_listen = "127.0.0.1:0"\n'
            f'nodes = [{{ url = "{node.url}" }}]\ntimeouts = {{ lame_duck_s = {lame_duck_s} }}\n'
        )
        gateway = Process(config)
        await gateway.start()
        try:
            await gateway.until_healthy()
            yield gateway, node
        finally:
            if gateway.process.returncode is None:
                gateway.process.kill()
            await gateway.process.communicate()


@pytest.mark.parametrize("lame_duck_s", [1.0])
async def test_it_stops_gently(gateway: tuple[Process, ScriptedUpstream]) -> None:
    process, node = gateway
    go = asyncio.Event()
    node.script = standing(go, ROLE, *[event({"content": "x"})] * 60, event({}, "stop"))
    async with Client(process.port) as client, Client(process.port) as other:
        client.send(chat(stream=True))
        await client.reader.readuntil(b'"x"')
        process.process.send_signal(signal.SIGTERM)
        assert await process.until_stopping(other) == 200
        go.set()
        assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 59
    assert await process.ended() == 0
    words = await process.words()
    assert "Traceback" not in words
    assert f"1 node: {node.url}\n" in words
    assert f"node {node.url}: joining -> up (admitted)\n" in words
    assert "stopping: still serving for 1 s (requests under way: 1); press Ctrl-C again to stop now" in words
    assert words.endswith("stopped\n")


@pytest.mark.parametrize("lame_duck_s", [600.0])
async def test_a_second_signal_stops_at_once(gateway: tuple[Process, ScriptedUpstream]) -> None:
    process, node = gateway
    async with Client(process.port) as client, Client(process.port) as other:
        client.send(chat())
        async with asyncio.timeout(SOON_S):
            while not node.requests:
                await asyncio.sleep(0.01)
        process.process.send_signal(signal.SIGTERM)
        await process.until_stopping(other)
        process.process.send_signal(signal.SIGTERM)
        assert await process.ended() == 0
    await asyncio.wait_for(node.left.wait(), SOON_S)
    words = await process.words()
    assert "Traceback" not in words
    assert "requests that are cut: 1\n" in words


async def test_a_taken_port_is_explained(gateway: tuple[Process, ScriptedUpstream]) -> None:
    first, _ = gateway
    config = first.config.with_name("second.toml")
    config.write_text(first.config.read_text().replace('"127.0.0.1:0"', f'"127.0.0.1:{first.port}"', 1))
    second = Process(config)
    await second.start()
    assert await second.ended() == 1
    words = await second.words()
    assert (
        f"cannot listen on 127.0.0.1:{first.port}, the data port: Address already in use; --listen names another"
        in words
    )
    assert "Traceback" not in words


async def test_a_journal_on_a_full_disk_ends_and_nothing_else(tmp_path: Path) -> None:
    async with ScriptedUpstream(never) as node:
        config = tmp_path / "pointsman.toml"
        config.write_text(
            f'listen = "127.0.0.1:0"\nadmin_listen = ""\njournal = "/dev/full"\nnode = ["{node.url}"]\n'
            "timeouts = { lame_duck_s = 0 }\n"
        )
        gateway = Process(config)
        await gateway.start()
        try:
            await gateway.until_healthy()
        finally:
            gateway.process.terminate()
        assert await gateway.ended() == 0
        words = await gateway.words()
        assert "the journal" in words
        assert "Traceback" not in words
