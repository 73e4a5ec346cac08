"""Queue and tenants: who is urgent is said once, in one language, and nobody starves for it."""

import asyncio
from collections import Counter

import pytest
from tests.e2e.gateway.conftest import World, chat
from tests.e2e.gateway.scripted_upstream import HANG, Received, ScriptedUpstream, respond
from tests.support.driver import TestDriver

from pointsman.brain.model.node import EngineKind, NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.gateway.settings import ClientTenant, Timeouts

ANYONE = ClientTenant(name="*", priority_ceiling=100.0)
PRIORITY = BrainSettings(order="priority")


async def good(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(respond(b"{}"))


async def test_no_engine_is_told_a_priority_that_it_reads_the_other_way_round(world: World) -> None:
    """Small is urgent for vLLM and large for SGLang, and an engine that sorts by arrival answers an error."""
    kinds: tuple[EngineKind, ...] = ("vllm", "sglang", "openai")
    world.policy = "round_robin"
    async with ScriptedUpstream(good) as node:
        await world.start([NodeSpec(url=node.url, id=kind, engine=kind) for kind in kinds])
        await world.until(lambda: world.dispatcher.available() == len(kinds))
        client = await world.client()
        for priority in (-5, 5) * len(kinds):
            assert (await client.ask(chat(priority=priority))).status == 200
        assert len(node.requests) == 2 * len(kinds)
        assert not any("priority" in request.json() for request in node.requests)


async def test_a_priority_is_obeyed_before_the_engine_whichever_it_is(world: World) -> None:
    """Less is more urgent, as vLLM's clients say it."""
    released = asyncio.Event()
    order: list[int] = []

    async def one_at_a_time(request: Received, writer: asyncio.StreamWriter) -> None:
        order.append(request.json()["n"])
        await released.wait()
        writer.write(respond(b"{}"))

    await world.open(one_at_a_time, slots=1, brain=PRIORITY, tenants=(ANYONE,))
    clients = [await world.client() for _ in range(4)]
    for number, (client, priority) in enumerate(zip(clients, (0, 3, 0, -3), strict=True)):
        client.send(chat(priority=priority, n=number))
        await world.until(lambda: len(order) + world.dispatcher.queued()["m"] == number + 1)  # noqa: B023
    released.set()
    assert [(await client.response()).status for client in clients] == [200] * 4
    assert order == [0, 3, 2, 1]


@pytest.mark.parametrize("classes", [(1.0, 8.0), (0.25, 1.0, 64.0)])
def test_the_lowest_class_gets_a_twentieth_beside_any_number_of_urgent_ones(classes: tuple[float, ...]) -> None:
    """Of each class there is always someone waiting."""
    driver = TestDriver(order="priority", queue_limit=10_000, overtake_limit=10**6, queue_timeout_s=1e6)
    driver.add("a", slots=1)
    of = {driver.submit(priority=each): each for _ in range(3) for each in classes}
    served: Counter[float] = Counter()
    for _ in range(600):
        (lease,) = driver.running
        done = of.pop(driver.running[lease])
        served[done] += 1
        of[driver.submit(priority=done)] = done
        driver.finish(lease)
    assert served[min(classes)] >= 0.05 * 600 - 1
    assert served[max(classes)] == max(served.values())
    driver.rest()


async def test_a_dead_node_delays_the_list_of_models_for_nobody(world: World) -> None:
    """One refuses connections, one takes them and says nothing: what is served is known without asking anyone."""
    async with ScriptedUpstream(good) as well, ScriptedUpstream(good) as hung:
        hung.pages["/v1/models"] = hung.pages["/metrics"] = HANG
        gone = NodeSpec(url="http://127.0.0.1:1", models=("n",))
        await world.start([NodeSpec(url=hung.url), gone, NodeSpec(url=well.url)], timeouts=Timeouts(probe_s=60.0))
        await world.until(lambda: world.dispatcher.available("m") == 1)
        client = await world.client()
        async with asyncio.timeout(5.0):  # whoever waits for the hung one waits for a minute
            for _ in range(20):
                models = (await client.ask(path="/v1/models", method="GET")).json()["data"]
                assert "m" in [model["id"] for model in models]
