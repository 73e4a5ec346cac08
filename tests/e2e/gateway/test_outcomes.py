"""What each ending says about the node, and what the defaults are."""

import pytest

from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.settings import BrainSettings
from pointsman.clock import ManualClock
from pointsman.gateway.settings import Limits, Timeouts

from .conftest import World, chat
from .scripted_upstream import DONE, ROLE, Script, always, event, never, respond, stream

TEXT = event({"content": "Hi"})
ONCE = BrainSettings(tries=1)
ERROR = b'data: {"error":{"message":"x","code":%d}}\n\n'


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        *[(always(respond(b"{}", status)), Verdict.FAIL) for status in (500, 502, 504, 401)],
        *[(always(respond(b"{}", status)), Verdict.BUSY) for status in (429, 503)],
        *[(always(respond(b"{}", status)), Verdict.OK) for status in (200, 400, 403, 404, 422, 501)],
        (stream(end=False), Verdict.FAIL),
        (stream(ROLE, end=False), Verdict.FAIL),
        (stream(ROLE, TEXT, end=False), Verdict.FAIL),
        (stream(ROLE, TEXT), Verdict.FAIL),
        (stream(ROLE, TEXT, ERROR % 400), Verdict.FAIL),
        (stream(ROLE, ERROR % 500), Verdict.FAIL),
        (stream(ROLE, ERROR % 503), Verdict.BUSY),
        (stream(ROLE, ERROR % 400), Verdict.OK),
        (stream(ROLE, TEXT, event({}, "stop")), Verdict.OK),
        (stream(ROLE, TEXT, DONE), Verdict.OK),
        (never, Verdict.FAIL),
    ],
)
async def test_what_an_ending_says(world: World, script: Script, verdict: Verdict) -> None:
    world.clock = ManualClock()
    await world.open(script, brain=ONCE)
    client = await world.client()
    client.send(chat(stream=True))
    if script is never:
        await world.until(lambda: bool(world.nodes[0].requests))
        world.pass_time(ONCE.first_token_ceiling_s)
    await client.response()
    await world.at_rest()
    assert {key[2]: count for key, count in world.metrics.requests.items()} == {verdict: 1}


async def test_leaving_says_nothing(world: World) -> None:
    await world.open(never)
    client = await world.client()
    client.send(chat(stream=True))
    await world.until(lambda: bool(world.nodes[0].requests))
    client.writer.transport.abort()
    await world.at_rest()
    assert {key[2] for key in world.metrics.requests} == {Verdict.CANCELLED}


def test_defaults() -> None:
    timeouts, limits, brain = Timeouts(), Limits(), BrainSettings()
    assert (timeouts.connect_s, timeouts.between_tokens_s, timeouts.total_s) == (2, 60, 3600)
    assert (timeouts.client_head_s, timeouts.client_body_s, timeouts.client_stall_s) == (10, 60, 60)
    assert (timeouts.node_idle_s, timeouts.lame_duck_s, timeouts.drain_s) == (2.5, 5, 600)
    assert (limits.body_bytes, limits.head_bytes, limits.headers) == (64 << 20, 16 << 10, 100)
    assert limits.stream_buffer_bytes == 256 << 10
    assert (brain.queue_timeout_s, brain.first_token_floor_s, brain.first_token_ceiling_s) == (30, 30, 600)
    assert (brain.tries, brain.retry_share, brain.retry_floor) == (2, 0.1, 3)
    assert (brain.fails_in_a_row, brain.fail_share, brain.ejection_s, brain.ejection_cap_s) == (3, 0.5, 10, 300)
    assert (brain.slow_start_s, brain.busy_s) == (30, 5)
