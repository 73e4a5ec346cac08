"""Questions to the children: patience with the busy, clear words about the failing."""

import aiohttp
import pytest
from aiohttp import web

from pointsman.demo import http
from pointsman.demo.errors import DemoError
from pointsman.demo.http import call, call_when_idle, until_ready


@pytest.fixture
async def server():
    """A session, a URL, and the statuses that are answered there in turn, the last one again and again."""
    application = web.Application()
    statuses = [200]

    async def answer(_):
        return web.Response(status=statuses.pop(0) if len(statuses) > 1 else statuses[0], text="body")

    application.router.add_route("*", "/x", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession() as session:
        yield session, f"http://127.0.0.1:{port}/x", statuses
    await runner.cleanup()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(http, "POLL_S", 0.001)
    monkeypatch.setattr(http, "READY_WITHIN_S", 0.02)
    monkeypatch.setattr(http, "IDLE_WITHIN_S", 0.02)


async def test_a_call_returns_the_body_or_tells_the_status(server):
    session, url, statuses = server
    assert await call(session, "GET", url) == b"body"
    statuses[:] = [404]
    with pytest.raises(DemoError, match="status 404: b'body'"):
        await call(session, "POST", url, {"a": 1})


async def test_nobody_listening_is_a_demo_error():
    async with aiohttp.ClientSession() as session:
        with pytest.raises(DemoError, match="Cannot connect"):
            await call(session, "GET", "http://127.0.0.1:1/x")


async def test_readiness_is_waited_for(server):
    session, url, statuses = server
    statuses[:] = [503, 503, 200]
    await until_ready(session, url, lambda: None)
    statuses[:] = [503]
    with pytest.raises(DemoError, match="not ready within 0 s: status 503: body"):
        await until_ready(session, url, lambda: None)


async def test_a_dead_child_ends_the_waiting(server):
    session, url, statuses = server
    statuses[:] = [503]

    def dead():
        raise DemoError("it died")

    with pytest.raises(DemoError, match="it died"):
        await until_ready(session, url, dead)


async def test_the_busy_are_asked_again(server):
    session, url, statuses = server
    statuses[:] = [409, 409, 200]
    await call_when_idle(session, "POST", url)
    statuses[:] = [409]
    with pytest.raises(DemoError, match="still busy"):
        await call_when_idle(session, "POST", url)
    statuses[:] = [500]
    with pytest.raises(DemoError, match="status 500"):
        await call_when_idle(session, "POST", url)
