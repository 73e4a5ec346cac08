"""Rounds: one fresh gateway a policy, engines reset before each, everybody ended whatever happens."""

import asyncio

import msgspec
import pytest
from aiohttp import web

from pointsman.demo import run
from pointsman.demo.demand import Demand, Dialogue, Line
from pointsman.demo.errors import DemoError
from pointsman.demo.run import Plan, compare
from pointsman.demo.scene import SCENE

STREAM = (
    b'data: {"choices":[{"delta":{"content":" abc"}}]}\n\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1,'
    b'"prompt_tokens_details":{"cached_tokens":2}}}\n\n'
    b"data: [DONE]\n\n"
)
PLAN = Plan(
    scene=SCENE,
    demand=Demand(tuple(Dialogue(k / 2, "", (Line(f" q{k}", 1),)) for k in range(20)), "test"),
    seconds=10.0,
    time_scale=50.0,
)


class Child:
    name, pid = "child", 0

    def check(self):
        pass

    def cpu_seconds(self):
        return 0.0


@pytest.fixture
async def stage(monkeypatch):
    """Fakes in the places of fleet and gateway; `log` tells what was done to them."""
    log, faults = [], []

    async def answer(request):
        return web.Response(body=STREAM)

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"

    class Fleet:
        def __init__(self, scene, scale, folder):
            self.urls, self.children, self.scene = {"fast-1": address}, [], scene

        async def start(self, session):
            log.append("fleet starts")

        async def reset(self, session):
            log.append("reset")

        async def enact(self, session, time, seconds):
            await asyncio.sleep(0)
            if faults:
                raise faults[0]

        async def served(self, session):
            return {f"{log[-1].split()[-1]}-{k}-0": "fast-1" for k in range(20)}

        async def preemptions(self, session):
            return 3

        def check(self):
            pass

        def end(self):
            log.append("fleet ends")

    class Gateway:
        def __init__(self, policy, scale, engines, folder, journals, brain):
            self.policy, self.url, self.child = policy, address, Child()

        async def start(self, session, check):
            log.append(f"gateway {self.policy}")

        def end(self):
            log.append(f"end {self.policy}")

    monkeypatch.setattr(run, "Fleet", Fleet)
    monkeypatch.setattr(run, "Gateway", Gateway)
    monkeypatch.setattr(run, "PATIENCE_TPOT_S", 1000.0)  # a machine that stands still for a while cuts nobody off
    yield log, faults
    await runner.cleanup()


async def test_every_policy_gets_a_fresh_gateway_and_engines_that_forgot(stage, tmp_path):
    log, _ = stage
    ticks = []
    rounds = await compare(PLAN, ["a", "b"], tmp_path, lambda policy, second: ticks.append((policy, second)))
    assert log == ["fleet starts", "reset", "gateway a", "end a", "reset", "gateway b", "end b", "fleet ends"]
    assert [one.figures.name for one in rounds] == ["a", "b"]
    assert {policy for policy, _ in ticks} == {"a", "b"}
    assert all(0 <= second <= PLAN.seconds for _, second in ticks)


async def test_samples_know_node_usage_and_moments(stage, tmp_path):
    (one,) = await compare(PLAN, ["a"], tmp_path, lambda *_: None)
    assert len(one.samples) == 20
    sample = one.samples[4]
    assert (sample.node, sample.ok, sample.prompt_tokens, sample.cached_tokens) == ("fast-1", True, 8, 2)
    assert sample.sent_s == 2.0
    assert one.figures.requests == sum(PLAN.window.holds(k / 2) for k in range(20))
    assert one.figures.preemptions == 3
    assert one.problems == ()


async def test_the_unanswered_are_told(stage, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "PATIENCE_TPOT_S", 0.0)

    async def never(*_):
        await asyncio.Event().wait()

    monkeypatch.setattr(run.ChatClient, "ask", never)
    together = Demand((Dialogue(4.0, "", (Line(" q", 1),)),) * 20, "test")  # none is still to be asked at the end
    (one,) = await compare(msgspec.structs.replace(PLAN, demand=together), ["a"], tmp_path, lambda *_: None)
    assert one.unanswered == 20
    assert one.problems == ()
    assert one.figures.success == 0


async def test_a_fault_that_could_not_be_enacted_ends_the_run(stage, tmp_path):
    log, faults = stage
    faults.append(DemoError("no such fault"))
    with pytest.raises(DemoError, match="no such fault"):
        await compare(PLAN, ["a", "b"], tmp_path, lambda *_: None)
    assert log[-2:] == ["end a", "fleet ends"]


async def test_an_interrupted_run_ends_everybody(stage, tmp_path):
    log, _ = stage
    task = asyncio.create_task(compare(PLAN, ["a"], tmp_path, lambda *_: None))
    async with asyncio.timeout(5):
        while "gateway a" not in log:
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log[-2:] == ["end a", "fleet ends"]
