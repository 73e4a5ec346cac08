"""Faults on demand: what a client of a failing engine sees."""

import asyncio
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, create_subprocess_exec
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
import pytest

from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig

CONFIG = EngineConfig(port=0, time_scale=50.0, prefill_tokens_per_second=1e6, decode_base_ms=20.0)
BODY = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8, "ignore_eos": True}


class Victim:
    """An engine that can be told to fail."""

    def __init__(self, engine: Engine, session: aiohttp.ClientSession) -> None:
        self.engine = engine
        self.base = f"http://127.0.0.1:{engine.port}"
        self.session = session

    async def fault(self, kind: str, **details: Any) -> None:
        async with self.session.post(self.base + "/admin/faults", json={"kind": kind, **details}) as response:
            assert response.status == 200, await response.text()

    async def chat(self, **fields: Any) -> tuple[int, str]:
        async with self.session.post(self.base + "/v1/chat/completions", json=BODY | fields) as response:
            return response.status, await response.text()

    async def audited(self) -> list[str]:
        async with self.session.get(self.base + "/admin/audit") as response:
            return [record["event"] for record in await response.json()]

    async def until(self, event: str) -> None:
        """Wait until that is in the audit."""
        async with asyncio.timeout(5):
            while event not in await self.audited():
                await asyncio.sleep(0.002)

    async def statuses(self, count: int) -> list[int]:
        return [(await self.chat())[0] for _ in range(count)]


@pytest.fixture
async def victim() -> AsyncIterator[Victim]:
    async with Engine(CONFIG) as engine, aiohttp.ClientSession() as session:
        yield Victim(engine, session)


async def test_a_status_for_so_many_requests(victim: Victim) -> None:
    await victim.fault("status", status=503, count=2)
    assert await victim.statuses(3) == [503, 503, 200]


async def test_a_fault_lasts_until_it_is_cleared(victim: Victim) -> None:
    await victim.fault("status", status=429)
    assert await victim.statuses(3) == [429] * 3
    async with victim.session.delete(victim.base + "/admin/faults") as response:
        assert response.status == 200
    assert await victim.statuses(1) == [200]


async def test_a_fraction_of_requests_fails(victim: Victim) -> None:
    await victim.fault("status", fraction=0.5)
    assert 10 < (await victim.statuses(50)).count(500) < 40


async def received_before_the_end(victim: Victim) -> bytes:
    """What of a stream came in before its connection broke, which it must."""
    received = b""
    try:
        async with victim.session.post(victim.base + "/v1/chat/completions", json=BODY | {"stream": True}) as response:
            async for chunk in response.content.iter_any():
                received += chunk
    except aiohttp.ClientError:
        return received
    pytest.fail("the stream ended properly")


@pytest.mark.parametrize("n", [0, 1, 4])
async def test_a_reset_after_so_many_events(victim: Victim, n: int) -> None:
    await victim.fault("reset_after_events", n=n, count=1)
    assert (await received_before_the_end(victim)).count(b"data: ") <= n
    assert (await victim.chat(stream=True))[0] == 200


async def test_an_error_inside_the_stream(victim: Victim) -> None:
    await victim.fault("inband_error", n=3, count=1)
    status, text = await victim.chat(stream=True)
    events = text.strip().split("\n\n")
    assert status == 200
    assert len(events) == 5
    assert "EngineCore encountered an issue" in events[3]
    assert events[4] == "data: [DONE]"
    assert victim.engine.driver is not None
    assert victim.engine.driver.core.running == 0


async def test_garbage_instead_of_an_answer(victim: Victim) -> None:
    await victim.fault("garbage", count=1)
    with pytest.raises(aiohttp.ClientError):
        await victim.chat()


async def test_hanging_before_the_headers(victim: Victim) -> None:
    await victim.fault("hang_before_headers", count=1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(victim.chat(), 0.2)
    await victim.until("abort")
    assert await victim.statuses(1) == [200]
    await victim.fault("hang_before_headers", count=1, seconds=0.05)
    assert await victim.statuses(1) == [200]
    assert await victim.audited() == ["start", "abort", "start", "finish", "start", "finish"]


async def test_slowness_acts_at_once_and_ends(victim: Victim) -> None:
    driver = victim.engine.driver
    assert driver is not None
    await victim.fault("slow", factor=4.0)
    assert driver.core.slowdown == 4.0
    await victim.fault("slow", factor=3.0, seconds=0.02)
    assert driver.core.slowdown == 3.0
    async with asyncio.timeout(5):
        while driver.core.slowdown > 1.0:
            await asyncio.sleep(0.005)
    assert driver.core.slowdown == 1.0


async def test_refusing_connections_for_a_while(victim: Victim) -> None:
    await victim.chat()
    await victim.fault("refuse", seconds=0.4)
    with pytest.raises(aiohttp.ClientConnectionError):
        await victim.chat()
    async with asyncio.timeout(5):
        while not await answers(victim):
            await asyncio.sleep(0.01)


async def answers(victim: Victim) -> bool:
    try:
        return await victim.statuses(1) == [200]
    except aiohttp.ClientConnectionError:
        return False


async def test_unknown_faults_are_refused(victim: Victim) -> None:
    async with victim.session.post(victim.base + "/admin/faults", json={"kind": "flood"}) as response:
        assert response.status == 400


async def test_dying_in_the_middle_of_a_stream() -> None:
    """The process is gone, without a word, after two events."""
    code = (
        "from pointsman.engine.emulator import Engine, serve; from pointsman.engine.settings import EngineConfig; "
        "serve(Engine(EngineConfig(port=0)))"
    )
    process = await create_subprocess_exec(sys.executable, "-c", code, stdout=DEVNULL, stderr=PIPE)
    try:
        assert process.stderr is not None
        found = re.match(rb"EMULATED engine on (http://[^ ]*:\d+)", await process.stderr.readline())
        assert found is not None
        base = found[1].decode()
        async with aiohttp.ClientSession() as session:
            async with session.post(base + "/admin/faults", json={"kind": "die_after_events", "n": 2}) as response:
                assert response.status == 200
            with pytest.raises(aiohttp.ClientError):
                async with session.post(base + "/v1/chat/completions", json=BODY | {"stream": True}) as response:
                    await response.read()
        assert await asyncio.wait_for(process.wait(), 5) == 137
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize(("seconds", "tokens", "ends"), [(5.0, 8, True), (0.02, 1000, False)])
async def test_a_stopping_engine_gives_running_requests_their_time(seconds: float, tokens: int, ends: bool) -> None:
    config = msgspec.structs.replace(CONFIG, time_scale=1.0, shutdown_seconds=seconds)
    async with aiohttp.ClientSession() as session:
        async with Engine(config) as engine:
            asked = asyncio.create_task(Victim(engine, session).chat(stream=True, max_tokens=tokens))
            while not (engine.driver and engine.driver.core.running):
                await asyncio.sleep(0.005)
        (answer,) = await asyncio.gather(asked, return_exceptions=True)
    whole = isinstance(answer, tuple) and answer[1].endswith("data: [DONE]\n\n")
    assert whole is ends


async def test_a_client_that_left_before_its_headers_is_no_error(
    victim: Victim, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def gone(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    with monkeypatch.context() as patched:
        patched.setattr(aiohttp.web.StreamResponse, "prepare", gone)
        with pytest.raises(aiohttp.ClientError):
            await victim.chat(stream=True)
    assert not caplog.records
    assert await victim.audited() == ["start", "abort"]
