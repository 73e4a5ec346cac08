"""Several workers act as one gateway: for clients, for nodes and for whoever looks after them."""

import asyncio
import signal

from tests.e2e.gateway.conftest import Client

from .conftest import Engine, Site


async def test_requests_spread_and_everything_adds_up(site: Site) -> None:
    await site.start(Engine(held=True), Engine(held=True), slots=64)
    streams = [asyncio.ensure_future(site.one()) for _ in range(60)]
    await site.run(60)
    site.go_on()
    assert await asyncio.gather(*streams) == [200] * 60
    await site.until(site.at_rest)
    metrics = await site.metrics()
    assert metrics["pointsman_requests_total"] == 60
    assert metrics["pointsman_ttft_seconds_count"] == 60
    assert metrics["pointsman_node_outstanding"] == 0
    assert metrics["pointsman_workers"] == 2
    given = [len(engine.requests) for engine in site.engines]
    assert sum(given) == 60
    assert min(given) >= 20  # each worker balances what the others do too
    decisions = await site.admin("/decisions?n=1000")
    assert sum(decision["node"] is not None for decision in decisions) == 60
    assert [decision["time"] for decision in decisions] == sorted((d["time"] for d in decisions), reverse=True)
    assert {decision["ticket"] for decision in decisions} < set(range(1, 60))  # no worker had them all
    await feedback_finds_the_worker_that_served_the_request(site)
    await a_node_is_added_and_removed_everywhere(site)


async def feedback_finds_the_worker_that_served_the_request(site: Site) -> None:
    for number in range(6):
        async with Client(site.port) as client:
            client.send({"model": "m", "prompt": "x"}, path="/v1/completions", headers=(f"x-request-id: r{number}",))
            assert (await client.response()).status == 200
    for number in range(6):
        async with Client(site.port) as client:
            answer = await client.ask({"request_id": f"r{number}", "good": True}, path="/feedback")
            assert answer.status == 200

    async def counted() -> bool:
        return (await site.metrics()).get("pointsman_feedback_total") == 6

    await site.until(counted)


async def a_node_is_added_and_removed_everywhere(site: Site) -> None:
    async with Engine(held=True) as engine:
        spec = {"id": "new", "url": engine.url, "models": ["m"], "slots": 16}
        assert (await site.admin("/nodes", "POST", json=spec))["id"] == "new"

        async def up() -> bool:
            return (await site.nodes())["new"]["state"] == "up"

        async def gone() -> bool:
            return list(await site.nodes()) == ["0", "1"]

        async def it_has_its_part() -> bool:
            return engine.running >= 10

        await site.until(up)
        for each in site.engines:
            each.goes_on.clear()
        streams = [asyncio.ensure_future(site.one()) for _ in range(40)]
        await site.until(it_has_its_part)
        engine.goes_on.set()
        site.go_on()
        assert await asyncio.gather(*streams) == [200] * 40
        await site.admin("/nodes/new", "DELETE")
        await site.until(gone)
        count = len(engine.requests)
        await asyncio.gather(*[site.one() for _ in range(20)])
        assert len(engine.requests) == count


async def test_a_nodes_bound_holds_for_all_together_and_nobody_starves(site: Site) -> None:
    await site.start(Engine(gap_s=0.02), slots=4)
    assert await asyncio.gather(*[site.one() for _ in range(40)]) == [200] * 40
    (engine,) = site.engines
    assert engine.most >= 4
    assert engine.most <= 4 + 2  # one for the other worker's last share, one while a round is on its way
    await site.until(site.at_rest)
    before = len(engine.requests)

    async def busy() -> int:
        served = 0
        async with Client(site.port) as client:
            while len(engine.requests) < before + 48:
                assert (await site.ask(client))[0] == 200
                served += 1
        return served

    served = await asyncio.gather(*[busy() for _ in range(12)])  # three times what it holds, never idle
    assert min(served) >= 2  # of four
    assert engine.most <= 4 + 2


async def test_a_change_reaches_every_worker_and_those_that_come_later(site: Site) -> None:
    await site.start(Engine(), Engine())
    first, second = site.engines
    await site.admin("/nodes/1", "PATCH", json={"drain": True})
    await site.admin("/policy", "PUT", json={"policy": "round_robin", "scope": "model:m"})
    assert await asyncio.gather(*[site.one() for _ in range(20)]) == [200] * 20
    async with Client(site.port) as client:
        assert (await site.ask(client, "a long prompt " * 200))[0] == 200
    assert [len(first.requests), len(second.requests)] == [21, 0]
    before, known = await site.workers(), (await site.metrics())["pointsman_index_entries"]
    assert known > 0

    site.process.send_signal(signal.SIGUSR2)
    await site.until(lambda: site.replaced(before), 20.0)
    assert (await site.nodes())["1"]["state"] == "draining"
    assert {each["policy"] for each in (await site.admin("/policy"))["in_use"]} == {"least_requests", "round_robin"}
    assert await asyncio.gather(*[site.one() for _ in range(10)]) == [200] * 10
    assert [len(first.requests), len(second.requests)] == [31, 0]
    assert (await site.metrics())["pointsman_index_entries"] == known
    async with site.session.patch("/nodes/none", json={"drain": True}) as answer:
        assert answer.status == 404

    site.config.write_text(site.config.read_text().replace("least_requests", "jffc").replace("slots = 16", "slots = 5"))
    site.process.send_signal(signal.SIGHUP)
    await site.until(lambda: reloaded(site, "jffc", 5.0))
    assert (await site.nodes())["1"]["state"] == "draining"


async def reloaded(site: Site, policy: str, slots: float) -> bool:
    in_use = {each["scope"]: each["policy"] for each in (await site.admin("/policy"))["in_use"]}
    return in_use["default"] == policy and [each["slots"] for each in (await site.nodes()).values()] == [slots] * 2
