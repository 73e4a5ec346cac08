"""Who waits is told and shown, whichever worker has the request."""

import asyncio
from typing import Any

from tests.e2e.gateway.conftest import Client, Response
from tests.e2e.gateway.scripted_upstream import DONE

from .conftest import Engine, Site

STREAM: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}


async def test_all_who_wait_are_told_and_shown(site: Site) -> None:
    await site.start(Engine(held=True), slots=1)

    async def one(number: int) -> Response:
        async with Client(site.port) as client:
            return await client.ask(STREAM, headers=("x-pointsman-progress: 1", f"x-request-id: r{number}"))

    asked = [asyncio.ensure_future(one(number)) for number in range(8)]

    async def waiting() -> list[str]:
        return [one["request_id"] for queue in await site.admin("/queue") for one in queue["first"]]

    async def most_wait() -> bool:
        return len(await waiting()) >= 6

    await site.until(most_wait)
    shown = await waiting()
    async with site.session.get("/queue.html") as answer:
        page = await answer.text()
    assert all(f'href="/decisions/{name}"' in page for name in shown[-3:])
    (story,) = await site.admin(f"/decisions/{shown[-1]}")
    assert story["chapters"][0]["event"] in ("held", "waited")
    site.go_on()
    answers = await asyncio.gather(*asked)
    assert all(answer.status == 200 and answer.body.endswith(DONE) for answer in answers)
    told = [answer for answer in answers if answer.body.startswith(b": pointsman position=")]
    assert len(told) >= len(shown)
    await site.until(site.at_rest)
    assert await waiting() == []
    metrics = await site.metrics()
    assert metrics["pointsman_queue_oldest_seconds"] == 0.0
