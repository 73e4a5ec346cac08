"""The admin API of two workers: memory held for others, who waits, what became of a request, who paid what."""

import asyncio
import json
from collections import Counter
from typing import Any

from tests.e2e.gateway.conftest import Client

from .conftest import Engine, Site

WISH = {"model": "m", "prompt_tokens": 1000, "output_tokens": 200, "ttl_s": 30}


async def status(site: Site, path: str, body: Any) -> int:
    async with site.session.post(path, json=body) as answer:
        return answer.status


async def named(site: Site, name: str) -> int:
    """One stream of that id, over a connection of its own."""
    async with Client(site.port) as client:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
        client.send(body, headers=(f"x-request-id: {name}",))
        return (await client.response()).status


async def test_memory_held_for_others_is_that_of_all_workers(site: Site) -> None:
    await site.start(Engine(), Engine())
    given = [await site.admin("/cache/allocate", "POST", json=WISH) for _ in range(4)]
    holdings = await site.admin("/cache/requests")
    assert Counter(held["node"] for held in holdings) == Counter(each["node"] for each in given)
    tokens = sum(each["blocks"] * each["block_tokens"] for each in given)

    async def reserved() -> bool:
        return bool((await site.admin("/cache"))["fleet"]["reserved"] == tokens)

    await site.until(reserved)
    leases = [each["lease"] for each in given]
    assert (await site.admin("/cache/renew", "POST", json={"lease": leases[0], "ttl_s": 500}))["ttl_s"] == 500
    for lease in leases:
        assert await status(site, "/cache/release", {"lease": lease}) == 204
        assert await status(site, "/cache/release", {"lease": lease}) == 409
        assert await status(site, "/cache/renew", {"lease": lease, "ttl_s": 9}) == 409
    assert await status(site, "/cache/release", {"lease": "none"}) == 404
    await site.until(site.at_rest)
    assert await status(site, "/cache/allocate", WISH | {"model": "other"}) == 404
    assert await status(site, "/cache/allocate", WISH | {"prompt_tokens": 200_000}) == 503
    assert await status(site, "/cache/defragment?dry_run=true", None) == 200
    await a_prompt_is_computed_ahead_once(site)


async def a_prompt_is_computed_ahead_once(site: Site) -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "warm " * 400}]}
    warmed = await site.admin("/cache/warm", "POST", json={"request": chat, "nodes": ["1"]})
    assert [each["node"] for each in warmed] == ["1"]

    async def came() -> bool:
        return len(site.engines[1].requests) == 1

    await site.until(came)
    await site.until(site.at_rest)
    assert not site.engines[0].requests


async def test_who_waits_and_what_became_of_each_is_told_whoever_had_it(site: Site) -> None:
    await site.start(Engine(held=True), slots=2)
    names = [f"r{number}" for number in range(12)]
    asked = asyncio.gather(*[named(site, name) for name in names])

    async def waiting() -> list[str]:
        return [each["request_id"] for queue in await site.admin("/queue") for each in queue["first"]]

    async def the_others_wait() -> bool:
        return 8 <= len(await waiting()) == 12 - site.engines[0].running

    await site.until(the_others_wait)
    queues = await site.admin("/queue")
    assert {queue["model"] for queue in queues} == {"m"}
    assert sum(queue["length"] for queue in queues) == len({*await waiting()}) <= 10
    site.go_on()
    assert await asked == [200] * 12
    assert await waiting() == []
    for name in names:
        (story,) = await site.admin(f"/decisions/{name}")
        assert (story["request_id"], story["state"]) == (name, "ended")
    async with site.session.get("/decisions/none") as answer:
        assert answer.status == 404


async def test_each_worker_keeps_its_part_of_a_quota_and_its_records_of_usage(site: Site) -> None:
    usage = site.folder / "usage.jsonl"
    await site.start(
        Engine(gap_s=0.0), more=f'usage = "{usage}"\ntenants = [{{ name = "*", requests_per_minute = 20 }}]'
    )
    clock = asyncio.get_running_loop().time
    began = clock()
    async with Client(site.port) as client:
        first = [(await site.ask(client))[0] for _ in range(12)]
        refused = await client.ask({"model": "m", "messages": [], "stream": True})
    assert first == [200] * 10 + [429] * 2, "a connection is one worker's, which has its half"
    assert 5 - (clock() - began) <= int(refused.headers["retry-after"]) <= 6
    others = Counter([await site.one() for _ in range(40)])
    assert others[200] <= 10 + 2 * (clock() - began) / 6
    assert others[200] + others[429] == 40
    await site.words()
    files = [usage.with_name(f"usage.jsonl.{number}") for number in (1, 2)]
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert Counter(record["status"] for record in records) == {200: 10 + others[200], 429: 3 + others[429]}
