"""The plain inference server: its response time follows its load."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from pointsman.engine.api import plain
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig

CONFIG = EngineConfig(port=0, plain=True, time_scale=100.0, plain_capacity=4)


@pytest.fixture
async def base() -> AsyncIterator[str]:
    async with Engine(CONFIG) as engine:
        yield f"http://127.0.0.1:{engine.port}"


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def call(session: aiohttp.ClientSession, method: str, url: str, body: Any = None) -> Any:
    async with session.request(method, url, json=body) as response:
        return await response.json()


async def test_an_idle_server_answers_in_its_base_time(base: str, session: aiohttp.ClientSession) -> None:
    answer = await call(session, "POST", base + "/classify/cat", {"image": "x"})
    assert answer == {"result": "ok", "path": "/classify/cat", "load": 0.0, "seconds": 0.1}


async def test_load_is_what_is_in_flight(
    base: str, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_came = asyncio.Barrier(4)

    async def sleep(_: float) -> None:
        await all_came.wait()

    monkeypatch.setattr(plain, "asyncio", SimpleNamespace(sleep=sleep))
    answers = await asyncio.gather(*(call(session, "POST", base + "/infer", {}) for _ in range(4)))
    assert sorted(answer["load"] for answer in answers) == [0.0, 0.25, 0.5, 0.75]
    assert max(answer["seconds"] for answer in answers) == pytest.approx(0.1 + 0.9 * 0.75)
    assert (await call(session, "GET", base + "/status"))["running"] == 0


async def test_load_can_drift(base: str, session: aiohttp.ClientSession) -> None:
    await call(session, "POST", base + "/admin/drift", {"drift": 0.5})
    assert (await call(session, "GET", base + "/status"))["load"] == 0.5
    assert (await call(session, "POST", base + "/infer"))["seconds"] == pytest.approx(0.55)
    assert "error" in await call(session, "POST", base + "/admin/drift", {"drift": -1})


async def test_it_is_healthy(base: str, session: aiohttp.ClientSession) -> None:
    async with session.get(base + "/health") as response:
        assert response.status == 200
