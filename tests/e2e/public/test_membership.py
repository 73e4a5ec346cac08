"""Membership and health: who is out is known, and nobody is out for the wrong reason."""

import asyncio

import pytest
from tests.e2e.gateway.conftest import World, chat
from tests.e2e.gateway.scripted_upstream import (
    DONE,
    HANG,
    ROLE,
    STREAM_HEAD,
    Received,
    ScriptedUpstream,
    always,
    chunk,
    event,
    never,
    respond,
)
from tests.support.driver import FAILED, TestDriver

from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.settings import BrainSettings
from pointsman.gateway.settings import Timeouts

GOOD = always(respond(b"{}"))


def states(world: World) -> list[NodeState]:
    return [NodeState(state) for state in world.dispatcher.fleet.states]


async def test_health_tells_of_the_data_plane(world: World) -> None:
    """A gateway that runs while none of its nodes does must not look healthy, and each request says so too."""
    await world.open(GOOD, GOOD, brain=BrainSettings(queue_timeout_s=0.1))
    client = await world.client()
    assert (await client.ask(path="/health", method="GET")).status == 200
    for node in world.nodes:
        await node.close()
    for _ in range(2 * 2):  # two bad probes make suspect, two more down
        for node in world.nodes:
            world.gateway.driver.report(NodeReport(node=node.url, ok=False, reason="refused"))
    assert states(world) == [NodeState.DOWN] * 2
    assert (await client.ask(path="/health", method="GET")).status == 503
    response = await client.ask(chat())
    assert (response.status, response.json()["error"]["code"]) == (503, "no_node_available")


async def test_one_hung_model_list_holds_up_nobody_else(world: World) -> None:
    """Nodes join, leave and are listed while one of them never answers what it is asked."""
    patient = Timeouts(probe_s=60.0, lame_duck_s=0)  # whoever waits for the hung list waits longer than this test
    async with ScriptedUpstream(GOOD) as stuck, ScriptedUpstream(GOOD) as other, ScriptedUpstream(GOOD) as late:
        stuck.pages["/v1/models"] = stuck.pages["/metrics"] = HANG
        await world.start([NodeSpec(url=stuck.url), NodeSpec(url=other.url)], timeouts=patient)
        await world.until(lambda: world.dispatcher.available("m") == 1)
        world.gateway.add_node(NodeSpec(url=late.url))
        await world.until(lambda: world.dispatcher.available("m") == 2)
        world.gateway.driver.call(lambda now: world.dispatcher.remove_node(other.url, now))
        assert world.dispatcher.available("m") == 1
        client = await world.client()
        async with asyncio.timeout(5.0):
            assert (await client.ask(path="/v1/models", method="GET")).json()["data"][0]["id"] == "m"


async def test_a_slow_health_page_under_load_takes_nobody_out(world: World) -> None:
    """A node that computes answers its health page late: while its tokens flow it is busy, not gone."""
    judged = asyncio.Event()

    async def computes(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(ROLE))
        while not judged.is_set():
            writer.write(chunk(event({"content": "x"})))
            await asyncio.sleep(0.002)
        writer.write(chunk(event({}, "stop")) + chunk(DONE) + b"0\r\n\r\n")

    await world.open(computes)
    node = world.nodes[0]
    client = await world.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b'"x"')
    for _ in range(10):
        world.gateway.driver.report(NodeReport(node=node.url, ok=False, reason="timeout"))
    assert states(world) == [NodeState.UP]
    judged.set()
    assert b"[DONE]" in await client.reader.readuntil(b"\r\n0\r\n\r\n")


async def test_one_bad_probe_is_no_verdict(world: World) -> None:
    await world.open(GOOD)
    world.gateway.driver.report(NodeReport(node=world.nodes[0].url, ok=False, reason="timeout"))
    assert states(world) == [NodeState.UP]


@pytest.mark.parametrize("key", ["wrong", ""])
async def test_a_bad_key_of_a_client_removes_nobody(world: World, key: str) -> None:
    await world.open(GOOD, api_keys=("right",), node_key="inner")
    client = await world.client()
    for _ in range(50):
        assert (await client.ask(chat(), headers=(f"authorization: Bearer {key}",))).status == 401
    assert not world.nodes[0].requests
    assert states(world) == [NodeState.UP]
    assert (await client.ask(chat(), headers=("authorization: Bearer right",))).status == 200


async def test_nodes_that_all_refuse_our_key_are_not_all_thrown_out(world: World) -> None:
    """The client is told of a bad gateway, not of a bad key of its own, and not that nobody is there."""
    await world.open(*[always(respond(b'{"error":"no"}', 401))] * 2, brain=BrainSettings(tries=1), node_key="old")
    client = await world.client()
    answers = [await client.ask(chat()) for _ in range(20)]
    assert {answer.status for answer in answers} == {502}
    assert NodeState.UP in states(world)


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_bad_requests_take_nobody_out(world: World, status: int) -> None:
    await world.open(always(respond(b'{"error":{"message":"too long"}}', status)))
    client = await world.client()
    for _ in range(50):
        assert (await client.ask(chat())).status == status
    assert states(world) == [NodeState.UP]


@pytest.mark.parametrize("status", [429, 503])
async def test_back_pressure_is_no_failure(world: World, status: int) -> None:
    """An engine that says it is full is well, and is asked again as soon as it is idle."""
    brain = BrainSettings(tries=1, busy_s=0.2)
    await world.open(always(respond(b"{}", status)), GOOD, brain=brain)
    client = await world.client()
    for _ in range(50):
        await client.ask(chat())
    assert states(world) == [NodeState.UP] * 2
    world.nodes[0].script = GOOD
    assert [(await client.ask(chat())).status for _ in range(4)] == [200] * 4
    assert len(world.nodes[0].requests) > 25


def fallen(**settings: object) -> TestDriver:
    """Two nodes, of which the first is down."""
    driver = TestDriver("least_requests", fails_in_a_row=1, tries=1, **settings)
    driver.add("a")
    driver.add("b")
    while state_of(driver) is not NodeState.DOWN:
        ticket = driver.submit()
        lease = driver.lease_of(ticket)
        driver.finish(lease, FAILED if driver.node_of[lease] == "a" else FAILED.__class__(verdict=Verdict.OK))
    return driver


def state_of(driver: TestDriver) -> NodeState:
    return driver.dispatcher.fleet.states[0]


def healed(driver: TestDriver) -> None:
    """The node is well again and its time out is over: one request may try it."""
    driver.tick(12.1)  # ten seconds, give or take a fifth
    driver.report("a")
    assert state_of(driver) is NodeState.JOINING


def test_a_trial_that_is_cancelled_is_followed_by_another() -> None:
    """The one real request that lets a node come back is given up by its client: the next one is the trial."""
    driver = fallen()
    healed(driver)
    for _ in range(3):
        trials = [driver.submit() for _ in range(4)]
        on_trial = [ticket for ticket in trials if driver.node(ticket) == "a"]
        assert len(on_trial) == 1, "half open means one request at a time"
        for ticket in trials:
            driver.cancel(ticket)
        assert state_of(driver) is NodeState.JOINING
    trials = [driver.submit() for _ in range(4)]
    for ticket in trials:
        driver.finish(driver.lease_of(ticket))
    assert state_of(driver) is NodeState.UP


def test_a_trial_that_never_ends_is_not_the_last_word() -> None:
    """While the trial hangs the node gets nothing else, and when it fails the node is out again, for longer."""
    driver = fallen()
    healed(driver)
    trials = [driver.submit() for _ in range(4)]
    lease = next(driver.lease_of(ticket) for ticket in trials if driver.node(ticket) == "a")
    assert all(driver.node(driver.submit()) == "b" for _ in range(10))
    driver.finish(lease, FAILED)
    assert state_of(driver) is NodeState.DOWN
    driver.tick(12.1)
    driver.report("a")
    assert state_of(driver) is NodeState.DOWN
    driver.tick(12.0)
    driver.report("a")
    assert state_of(driver) is NodeState.JOINING


def test_a_node_in_doubt_is_probed_every_few_seconds() -> None:
    """A node that is well again is noticed: whatever became of the last probe, another follows within 10 s."""
    driver = fallen()
    driver.probes.clear()
    for second in range(30):
        driver.tick(1.0)
        if second % 10 == 9:
            assert "a" in driver.probes
            driver.probes.clear()


async def test_a_probe_that_hangs_is_followed_by_another(world: World) -> None:
    async with ScriptedUpstream(GOOD) as node:
        node.pages["/health"] = HANG
        await world.start([NodeSpec(url=node.url)], timeouts=Timeouts(probe_s=0.5, lame_duck_s=0))
        await world.until(lambda: world.metrics.probe_failures[(node.url,)] >= 1)
        del node.pages["/health"]
        await asyncio.sleep(0)
        world.gateway.driver.call(lambda now: world.dispatcher.tick(now + 10.0))
        await world.until(lambda: world.dispatcher.available("m") == 1)


async def test_engines_that_tell_no_load_are_reported_and_judged_by_our_own_account(world: World) -> None:
    """Nodes without a page of metrics must not silently be chosen at random."""
    world.policy = "least_requests"
    await world.open(*[never] * 2)
    for number in range(10):
        client = await world.client()
        client.send(chat(seed=number))
    await world.until(lambda: sum(len(node.requests) for node in world.nodes) == 10)
    assert [len(node.requests) for node in world.nodes] == [5, 5]
    assert all(world.metrics.load_unknown[(node.url,)] >= 1 for node in world.nodes)
