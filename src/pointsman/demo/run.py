"""The comparison: one fleet, one demand, and for every policy a fresh gateway and engines that remember nothing."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import aiohttp
import msgspec
import numpy as np

from pointsman.clock import WallClock
from pointsman.observe.comparison import Sample, Window

from .children import own_cpu_seconds
from .client import ChatClient
from .demand import Demand
from .figures import figures
from .fleet import Fleet
from .gateway import Gateway
from .replay import Asked, Replay
from .result import Round, Usage
from .scene import ENGINE, Scene
from .stopwatch import EngineTime

PATIENCE_TPOT_S = 0.1  # after the end of a run, a long answer may take this much a token; what is slower is cut
MOST_PROBLEMS = 3

Tick = Callable[[str, float], None]


class Plan(msgspec.Struct, frozen=True):
    """What to run. `seconds`: engine seconds of load per policy. `journals`: where the gateways' journals are kept."""

    scene: Scene
    demand: Demand
    seconds: float
    time_scale: float
    journals: Path | None = None

    @property
    def drain_s(self) -> float:
        """How long after the run's end answers are waited for, in engine seconds."""
        return PATIENCE_TPOT_S * self.demand.long_answer_tokens()

    @property
    def window(self) -> Window:
        return Window(self.scene.warm_up * self.seconds, self.seconds)


async def compare(plan: Plan, policies: Sequence[str], folder: Path, tick: Tick) -> list[Round]:
    """One round per policy, in order. Children log into `folder` and are ended however this ends.

    `tick(policy, engine second)` is called a few times a second. Raises DemoError when a child fails.
    """
    fleet = Fleet(plan.scene, plan.time_scale, folder)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session:
        try:
            await fleet.start(session)
            return [await _round(plan, policy, fleet, session, folder, tick) for policy in policies]
        finally:
            fleet.end()


async def _round(
    plan: Plan, policy: str, fleet: Fleet, session: aiohttp.ClientSession, folder: Path, tick: Tick
) -> Round:
    await fleet.reset(session)
    gateway = Gateway(policy, plan.time_scale, fleet.urls.values(), folder, plan.journals, plan.scene.brain)
    try:
        await gateway.start(session, fleet.check)
        before = _cpu(gateway, fleet)
        time = EngineTime(WallClock(), plan.time_scale)
        asked = await _replayed(plan, policy, fleet, gateway, session, time, tick)
        usage = _usage(before, _cpu(gateway, fleet), time.now() / plan.time_scale)
        return _judged(plan, policy, asked, await fleet.served(session), await fleet.preemptions(session), usage)
    finally:
        gateway.end()


async def _replayed(
    plan: Plan,
    policy: str,
    fleet: Fleet,
    gateway: Gateway,
    session: aiohttp.ClientSession,
    time: EngineTime,
    tick: Tick,
) -> list[Asked]:
    client = ChatClient(session, gateway.url, ENGINE.profile, time, lengths_told=plan.scene.lengths_told)
    replay = Replay(client, time, plan.seconds, policy)

    def watch(now_s: float) -> None:
        fleet.check()
        gateway.child.check()
        tick(policy, min(now_s, plan.seconds))

    fault = asyncio.create_task(fleet.enact(session, time, plan.seconds))
    try:
        await replay.run(plan.demand, plan.drain_s, watch)
    finally:
        fault.cancel()
    (ended,) = await asyncio.gather(fault, return_exceptions=True)
    if isinstance(ended, Exception):  # a run without its fault is another scene
        raise ended
    return replay.asked


def _cpu(gateway: Gateway, fleet: Fleet) -> Usage:
    engines = sum(child.cpu_seconds() for child in fleet.children)
    return Usage(own_cpu_seconds(), gateway.child.cpu_seconds(), engines)


def _usage(before: Usage, after: Usage, wall_s: float) -> Usage:
    return Usage(
        (after.client - before.client) / wall_s,
        (after.gateway - before.gateway) / wall_s,
        (after.engines - before.engines) / wall_s,
    )


def _judged(
    plan: Plan, policy: str, asked: list[Asked], places: dict[str, str], preemptions: int, usage: Usage
) -> Round:
    samples = tuple(_sample(one, places) for one in asked)
    failed = [one.answer.problem for one in asked if not one.answer.complete]
    problems = Counter(filter(None, failed))
    return Round(
        figures=figures(policy, samples, plan.window, plan.scene.capacity(), preemptions),
        samples=samples,
        cpu=usage,
        lateness_p99_s=float(np.quantile([one.late_s for one in asked], 0.99)) if asked else 0.0,
        problems=tuple(f"{count}× {problem}" for problem, count in problems.most_common(MOST_PROBLEMS)),
        unanswered=failed.count(""),
    )


def _sample(asked: Asked, places: dict[str, str]) -> Sample:
    answer = asked.answer
    return Sample(
        sent_s=answer.sent_s,
        first_s=answer.first_s,
        done_s=answer.done_s,
        ok=answer.complete,
        prompt_tokens=answer.prompt_tokens,
        cached_tokens=answer.cached_tokens,
        output_tokens=answer.output_tokens,
        node=places.get(asked.request_id, ""),
    )
