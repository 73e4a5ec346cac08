"""Routing and herding: every path is counted, and no node is buried while others idle."""

import asyncio

import pytest
from tests.e2e.gateway.conftest import Client, World, chat
from tests.e2e.gateway.scripted_upstream import Received, respond
from tests.support.driver import TestDriver

from pointsman.brain.model.reports import NodeReport
from pointsman.brain.policies.registry import POLICIES
from pointsman.clock import ManualClock
from pointsman.gateway.routes import PlainRoute, route_table

DEFAULT = "fastest_completion"
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsound\r\n--b--\r\n'
)
ALLOWED = "/v1/classify"
PLAIN = "/watch"
PATHS = [path.decode() for path in route_table({PLAIN: PlainRoute(pool="pool")}, (ALLOWED,))]


class Gate:
    """A script that answers when it is opened."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def __call__(self, _: Received, writer: asyncio.StreamWriter) -> None:
        await self.open.wait()
        writer.write(respond(b"{}"))


def send(client: Client, path: str, number: int) -> None:
    """A request on `path`; those of one kind share their prompt's beginning."""
    if path.startswith("/v1/audio/trans"):
        client.send(FORM, path=path, headers=("content-type: multipart/form-data; boundary=b",))
    else:
        client.send(chat(prompt="shared " * 300 + str(number), input=str(number)), path=path)


def counts(world: World) -> list[int]:
    return [len(node.requests) for node in world.nodes]


@pytest.mark.parametrize("policy", [DEFAULT, "least_requests", "round_robin"])
async def test_no_path_escapes_the_count(world: World, policy: str) -> None:
    """A path that is relayed without being counted sends everything to one node."""
    world.policy = policy
    gate = Gate()
    await world.open(*[gate] * 8, models=("m", "pool"), routes={PLAIN: PlainRoute(pool="pool")}, allow_paths=(ALLOWED,))
    clients = [await world.client() for _ in range(480)]
    for number, client in enumerate(clients):
        send(client, PATHS[number % len(PATHS)], number)
    await world.until(lambda: sum(counts(world)) == 480)
    outstanding = world.dispatcher.fleet.table.outstanding
    assert outstanding.tolist() == counts(world)
    assert max(counts(world)) <= 1.5 * 480 / 8
    gate.open.set()
    assert {(await client.response()).status for client in clients} == {200}
    await world.at_rest()
    assert not world.dispatcher.fleet.table.outstanding.any()


@pytest.mark.parametrize("path", ["/v1/unknown", "/v1/chat/completions/more", "/anything"])
async def test_an_unknown_path_reaches_no_node(world: World, path: str) -> None:
    await world.open(*[Gate()] * 2)
    client = await world.client()
    assert (await client.ask(chat(), path=path)).status == 404
    assert counts(world) == [0, 0]
    assert world.dispatcher.at_rest()


async def test_a_health_check_forgets_nothing(world: World) -> None:
    """A tick of the health check must not set what is in flight to zero."""
    gate = Gate()
    await world.open(gate, gate)
    clients = [await world.client() for _ in range(20)]
    for client in clients:
        client.send(chat(stream=True))
    await world.until(lambda: sum(counts(world)) == 20)
    for _ in range(5):
        for node in world.nodes:
            world.gateway.driver.report(NodeReport(node=node.url, ok=True, models=("m",), running=0, waiting=0))
        world.gateway.driver.call(world.dispatcher.tick)
    assert world.dispatcher.fleet.table.outstanding.tolist() == [10, 10]
    gate.open.set()
    await asyncio.gather(*[client.response() for client in clients])
    await world.at_rest()


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("policy", [DEFAULT, "least_requests", "round_robin"])
async def test_load_is_booked_when_the_choice_is_made(world: World, policy: str, streamed: bool) -> None:
    """Booked only when the response starts, long prompts with short answers all go where the last one went."""
    world.policy = policy
    gate = Gate()
    await world.open(*[gate] * 5)
    clients = [await world.client() for _ in range(50)]
    for number, client in enumerate(clients):
        client.send({"model": "m", "prompt": f"{number} " + "word " * 25_000, "max_tokens": 1, "stream": streamed},
                    path="/v1/completions")  # fmt: skip
    await world.until(lambda: sum(counts(world)) == 50)
    assert max(counts(world)) - min(counts(world)) <= 1
    gate.open.set()
    await asyncio.gather(*[client.response() for client in clients])
    await world.at_rest()


@pytest.mark.parametrize("policy", [DEFAULT, "least_requests", "two_choices"])
async def test_ties_do_not_all_go_to_the_first_node(world: World, policy: str) -> None:
    world.policy = policy

    async def good(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"{}"))

    world.clock = ManualClock()  # none is ever slower than another
    await world.open(*[good] * 4)
    client = await world.client()
    for number in range(40):
        assert (await client.ask(chat(user=f"u{number}", messages=[f"{number} " + "x" * 600]))).status == 200
    assert all(5 <= count <= 15 for count in counts(world)), counts(world)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_no_policy_has_a_favourite_when_nothing_differs(policy: str) -> None:
    """One request at a time, every one of another user: any node may have it."""
    driver = TestDriver(policy)
    nodes = ["a", "b", "c", "d"]
    for name in nodes:
        driver.add(name)
    seen = []
    for number in range(400):
        driver.tick(1.0)
        ticket = driver.submit(session=f"user {number}")
        seen.append(driver.node(ticket))
        driver.tick(0.5)
        driver.finish(driver.lease_of(ticket))
    shares = [seen.count(name) / len(seen) for name in nodes]
    assert max(shares) <= 0.45, shares


async def test_readings_that_stand_still_overshoot_no_cap(world: World) -> None:
    """What engines report lags: a burst between two reports must be held by our own account."""
    world.policy = DEFAULT
    gate = Gate()
    await world.open(*[gate] * 4, slots=8)
    for node in world.nodes:  # idle, says the last reading for the whole burst
        world.gateway.driver.report(NodeReport(node=node.url, ok=True, running=0, waiting=0, kv_usage=0.0))
    clients = [await world.client() for _ in range(200)]
    for number, client in enumerate(clients):
        client.send(chat(seed=number))
    await world.until(lambda: world.dispatcher.queued().get("m") == 200 - 32)
    await world.until(lambda: sum(counts(world)) == 32)
    assert counts(world) == [8] * 4
    gate.open.set()
    assert {(await client.response()).status for client in clients} == {200}
    await world.at_rest()


async def test_the_holder_of_a_hot_prefix_dies(world: World) -> None:
    """Affinity must not pin requests to a node that is gone: one failed try at most, then elsewhere."""
    world.policy = DEFAULT

    async def good(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"{}"))

    await world.open(*[good] * 3)
    client = await world.client()
    hot = chat(messages=[{"role": "user", "content": "hot " * 5000}])
    for _ in range(5):
        assert (await client.ask(hot)).status == 200
    holder = max(world.nodes, key=lambda node: len(node.requests))
    assert len(holder.requests) == 5, "the prefix is hot on one node"
    await holder.close()
    started = sum(world.metrics.tries.values())
    answers = [await client.ask(hot) for _ in range(20)]
    assert [answer.status for answer in answers] == [200] * 20
    assert sum(world.metrics.tries.values()) - started <= 2 * 20
    others = [len(node.requests) for node in world.nodes if node is not holder]
    assert sum(others) == 20


async def test_a_removed_node_is_nobodys_favourite(world: World) -> None:
    """What was removed is chosen no more, however much of the prompt it held."""
    world.policy = DEFAULT

    async def good(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"{}"))

    await world.open(*[good] * 2)
    client = await world.client()
    hot = chat(messages=[{"role": "user", "content": "hot " * 5000}])
    assert (await client.ask(hot)).status == 200
    holder = max(world.nodes, key=lambda node: len(node.requests))
    world.gateway.driver.call(lambda now: world.dispatcher.remove_node(holder.url, now))
    for _ in range(5):
        assert (await client.ask(hot)).status == 200
    assert len(holder.requests) == 1
    assert not [key for key, count in world.metrics.tries.items() if key[3] != "done"]
