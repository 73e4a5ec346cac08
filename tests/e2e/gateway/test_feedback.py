"""Clients report answers that were whole, in time and wrong."""

import asyncio
from typing import Any

from pointsman.brain.model.node import NodeState
from pointsman.clock import ManualClock

from .conftest import Client, World, chat
from .scripted_upstream import DONE, ROLE, always, event, never, respond, standing, stream

GOOD = always(respond(b"{}"))


async def say(client: Client, request: str, good: bool = False, **more: Any) -> Any:
    return await client.ask({"request_id": request, "good": good}, path="/feedback", **more)


async def test_complaints_take_a_bad_node_out_but_never_the_last(world: World) -> None:
    await world.open(GOOD, stream(ROLE, event({"content": "x"}), event({}, "stop"), DONE))
    client = await world.client()
    for _ in range(6):
        answer = await client.ask(chat(stream=True))
        if b"data:" in answer.body:
            assert (await say(client, answer.headers["x-request-id"])).json()["object"] == "feedback"
    assert world.dispatcher.fleet.states[:2] == [NodeState.UP, NodeState.DOWN]
    for _ in range(4):
        answer = await client.ask(chat())
        assert (await say(client, answer.headers["x-request-id"])).status == 200
    assert world.dispatcher.fleet.states[0] is NodeState.UP


async def test_good_words_change_nothing(world: World) -> None:
    await world.open(GOOD, GOOD)
    client = await world.client()
    for number in range(30):
        await client.ask(chat(), headers=(f"x-request-id: mine-{number}",))
        assert (await say(client, f"mine-{number}", good=True)).status == 200
    assert world.dispatcher.fleet.states[:2] == [NodeState.UP] * 2


async def test_what_is_refused_and_how(world: World) -> None:
    world.clock = ManualClock()  # what was used up does not come back meanwhile
    await world.open(GOOD, api_keys=("one", "two"))
    client, (one, two) = await world.client(), (("authorization: Bearer one",), ("authorization: Bearer two",))
    assert (await say(client, "r0")).status == 401
    for number in range(12):
        await client.ask(chat(), headers=(*one, f"x-request-id: r{number}"))
    assert (await say(client, "r0", headers=two)).status == 404
    assert (await say(client, "unheard-of", headers=one)).json()["error"]["code"] == "not_found"
    assert [(await say(client, f"r{number}", headers=one)).status for number in range(10)] == [200] * 10
    assert (await say(client, "r0", headers=one)).json()["error"]["code"] == "conflict"
    limited = await say(client, "r10", headers=one)
    assert (limited.status, limited.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert 1 <= int(limited.headers["retry-after"]) <= 5
    bad = await client.ask({"good": 1}, path="/feedback", headers=one)
    assert (bad.status, bad.json()["error"]["type"]) == (400, "invalid_request_error")
    wrong = await client.ask(path="/feedback", method="GET", headers=one)
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST, OPTIONS")


async def test_a_request_under_way_cannot_be_reported_on_and_one_broken_off_can(world: World) -> None:
    await world.open(standing(asyncio.Event(), ROLE, event({"content": "x"})), never)
    client, reporter = await world.client(), await world.client()
    client.send(chat(stream=True), headers=("x-request-id: r",))
    await client.reader.readuntil(b"\r\n\r\n")
    assert (await say(reporter, "r")).status == 404
    client.writer.transport.abort()
    await world.at_rest()
    assert (await say(reporter, "r")).status == 200
