"""Tenants over HTTP: whose a key is, what each may have, and what is told who had too much."""

from pointsman.brain.model.settings import BrainSettings
from pointsman.clock import ManualClock
from pointsman.gateway.settings import ClientTenant

from .conftest import World, chat
from .scripted_upstream import always, respond

OK = always(respond(b'{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2}}'))
SMALL = ClientTenant(name="small", keys=("k1",), requests_per_minute=2)
LARGE = ClientTenant(name="large", keys=("k2",))


def key(name: str) -> tuple[str, ...]:
    return (f"authorization: Bearer {name}",)


async def test_who_used_up_its_quota_is_told_when_to_come_back(world: World) -> None:
    world.clock = ManualClock()
    await world.open(OK, tenants=(SMALL, LARGE), brain=BrainSettings(tenants=(SMALL, LARGE)))
    client = await world.client()
    answers = [await client.ask(chat(), headers=key("k1")) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30
    error = answers[2].json()["error"]
    assert (error["type"], error["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    assert "2 requests per minute" in error["message"]
    assert (await client.ask(chat(), headers=key("k2"))).status == 200
    assert (await client.ask(chat(), headers=key("k3"))).status == 401


async def test_a_priority_that_is_none_is_told(world: World) -> None:
    await world.open(OK)
    client = await world.client()
    answer = await client.ask(chat(), headers=("x-pointsman-priority: urgent",))
    assert answer.status == 400
    assert b"x-pointsman-priority must be a number above 0" in answer.body
    assert (await client.ask(chat(), headers=("x-pointsman-priority: 2", "x-slo-ttft-ms: 100"))).status == 200
    assert world.nodes[0].requests[0].header("x-pointsman-priority") is None
