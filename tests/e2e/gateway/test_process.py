"""`pointsman serve` as a process: it starts, says so, and stops when told."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .conftest import Client, chat
from .scripted_upstream import ROLE, ScriptedUpstream, event, never, stream


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


class Process:
    """A gateway process; `port` is its data port."""

    def __init__(self, config: Path, port: int) -> None:
        self._config = config
        self.port = port

    async def start(self) -> None:
        command = [sys.executable, "-m", "pointsman", "serve", "--config", str(self._config)]
        self.process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)

    async def until_healthy(self) -> None:
        async with asyncio.timeout(20):
            while True:
                try:
                    async with Client(self.port) as client:
                        if (await client.ask(path="/health", method="GET")).status == 200:
                            return
                except OSError:
                    pass
                await asyncio.sleep(0.05)

    async def until_stopping(self, client: Client) -> None:
        """Until the first signal has arrived: the system makes one of two that it has not delivered."""
        async with asyncio.timeout(5):
            while (await client.ask(path="/health", method="GET")).status != 503:
                await asyncio.sleep(0.01)

    async def ended(self, within_s: float = 5.0) -> int:
        return await asyncio.wait_for(self.process.wait(), within_s)

    async def words(self) -> str:
        assert self.process.stderr is not None
        return (await self.process.stderr.read()).decode()


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[tuple[Process, ScriptedUpstream]]:
    """A healthy gateway before one node."""
    async with ScriptedUpstream(never) as node:
        port = free_port()
        config = tmp_path / "pointsman.toml"
        config.write_text(
            f'listen = "127.0.0.1:{port}"\nadmin_listen = "127.0.0.1:{free_port()}"\n'
            f'nodes = [{{ url = "{node.url}" }}]\ntimeouts = {{ lame_duck_s = 0.3 }}\n'
        )
        gateway = Process(config, port)
        await gateway.start()
        try:
            await gateway.until_healthy()
            yield gateway, node
        finally:
            if gateway.process.returncode is None:
                gateway.process.kill()
            await gateway.process.communicate()


async def test_it_stops_gently(gateway: tuple[Process, ScriptedUpstream]) -> None:
    process, node = gateway
    node.script = stream(ROLE, *[event({"content": "x"})] * 60, event({}, "stop"), gap_s=0.02)
    async with Client(process.port) as client, Client(process.port) as other:
        client.send(chat(stream=True))
        await client.reader.readuntil(b'"x"')
        process.process.send_signal(signal.SIGTERM)
        await process.until_stopping(other)
        assert (await other.ask(path="/v1/models", method="GET")).status == 200
        assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 59
    assert await process.ended() == 0
    words = await process.words()
    assert "Traceback" not in words
    assert f"1 node: {node.url}\n" in words
    assert f"node {node.url}: joining -> up (admitted)\n" in words
    assert "stopping: still serving for 0.3 s (requests under way: 1); press Ctrl-C again to stop now" in words


async def test_a_second_signal_stops_at_once(gateway: tuple[Process, ScriptedUpstream]) -> None:
    process, node = gateway
    async with Client(process.port) as client, Client(process.port) as other:
        client.send(chat())
        async with asyncio.timeout(5):
            while not node.requests:
                await asyncio.sleep(0.01)
        process.process.send_signal(signal.SIGTERM)
        await process.until_stopping(other)
        process.process.send_signal(signal.SIGTERM)
        assert await process.ended() == 0
    await asyncio.wait_for(node.left.wait(), 5)
    assert "Traceback" not in await process.words()


async def test_a_taken_port_is_explained(gateway: tuple[Process, ScriptedUpstream]) -> None:
    first, _ = gateway
    second = Process(first._config, first.port)
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
        port = free_port()
        config = tmp_path / "pointsman.toml"
        config.write_text(
            f'listen = "127.0.0.1:{port}"\nadmin_listen = ""\njournal = "/dev/full"\nnode = ["{node.url}"]\n'
            "timeouts = { lame_duck_s = 0 }\n"
        )
        gateway = Process(config, port)
        await gateway.start()
        try:
            await gateway.until_healthy()
        finally:
            gateway.process.terminate()
        assert await gateway.ended() == 0
        words = await gateway.words()
        assert "the journal" in words
        assert "Traceback" not in words
