"""Streams lose their node in the middle, in four ways, and every client reads the whole answer.

Two hundred streams run on three engines. When each client has some of its answer, an engine is drained within a limit,
has its requests taken away at once, as a preemption does, is stopped (SIGSTOP), which only its probes tell, or killed
(SIGKILL). Each text is compared with what an
undisturbed engine writes, to the byte. A fourth crowd asks for what cannot be resumed when an engine is killed: its
streams end with one error event each.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise

from scene.admin import UP_WITHIN_S, all_up
from scene.asks import Ask, Asks, Shape
from scene.client import Answer, Connection
from scene.phases import until
from scene.report import Figures, Report, Steps, ms
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import engine, played, settings
from scene.usage import open_files
from scene.world import Plan, World, world

VICTIM = "b"
GAP_MS = 40.0
TOKENS = (80, 140)
"""Of an answer: three to six seconds."""
BEGUN_EVENTS = 5
DRAIN_S = 0.5
SLOW_START_S = 1.0
PROBED_WITHIN_S = 30.0
PROBE_S = 2.0
MOST_STOPPED_S = 30.0
"""Until a stopped engine is found out: a probe every ten seconds, and three more. A gateway waits twice as long for the
next token."""
Take = Callable[[World], Awaitable[None]]


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report("resume", dict(played(options, "streams", "by")))
    more = {
        "resume": options.by,
        "timeouts": {"probe_s": PROBE_S},
        "brain": {"seed": options.seed, "slow_start_s": SLOW_START_S, "ejection_s": 1.0},
    }
    plan = Plan(
        engine(GAP_MS, options.streams), settings(options, **more), {"slots": options.streams}, workers=options.workers
    )
    async with world(plan, options.keep) as here:
        asks = Asks(Shape(TOKENS, (20, 60)), options.seed)
        if options.by == "text":
            await probed(here, asks, steps)
        files = open_files(here.pids())
        table = report.table(
            "what became of the streams", "way", "streams", "on the engine", "moved", "longest pause", "ended"
        )
        for way, take in (("drain", drain), ("preempt", preempt), ("stop", stop), ("kill", kill)):
            steps.say(f"{way}: {options.streams} streams")
            crowd = [asks.next(stream=True) for _ in range(options.streams)]
            pause = await disturbed(report, table, here, crowd, way, take)
            if way == "stop":
                found = f"a pause of {pause:.1f} s at most"
                report.claim("a stopped engine is left before patience is over", pause < MOST_STOPPED_S, found)
                here.engines[VICTIM].signal(signal.SIGCONT)
                await back(here, asks)
        await again(here, asks)
        await refused(report, table, here, [penalised(asks.next(stream=True)) for _ in range(options.streams // 4)])
        await claim_rest(report, here, files, lost_with=VICTIM)
    return report


async def probed(here: World, asks: Asks, steps: Steps) -> None:
    """Every worker has seen that chats are continued faithfully. Raises TimeoutError."""
    steps.say("asking the engines whether they continue chats")
    async with asyncio.timeout(PROBED_WITHIN_S):
        while (await here.admin.metrics()).get("pointsman_continuation_probes_total", 0.0) < here.plan.workers:
            await ask_alone(here, asks)


async def disturbed(report: Report, table: Figures, here: World, asks: list[Ask], way: str, take: Take) -> float:
    """All these streams, an engine taken from under some of them; the longest pause of these."""
    before = await moved(here)
    answers, on_it = await answered(here, asks, take)
    count = await moved(here) - before
    verdicts = Counter(each.verdict for each in answers)
    pause = longest_pause(on_it)
    table.rows.append((way, len(answers), len(on_it), int(count), ms(pause), dict(verdicts)))
    report.claim(f"{way}: every text is the undisturbed one", set(verdicts) == {"ok"}, dict(verdicts))
    report.claim(f"{way}: streams were moved", 0 < count <= len(on_it), f"{count:.0f} of {len(on_it)} on the engine")
    return pause


def longest_pause(answers: list[Answer]) -> float:
    return max((after - at for each in answers for at, after in pairwise(each.moments)), default=0.0)


async def refused(report: Report, table: Figures, here: World, asks: list[Ask]) -> None:
    """What cannot be resumed loses its engine."""
    answers, on_it = await answered(here, asks, kill)
    verdicts = Counter(each.verdict for each in answers)
    table.rows.append(("kill, refused", len(answers), len(on_it), 0, "", dict(verdicts)))
    report.claim(
        "what cannot be resumed ends with one error event",
        {each.verdict for each in on_it} == {"error event"} and verdicts["ok"] + len(on_it) == len(answers),
        dict(verdicts),
    )


async def answered(here: World, asks: list[Ask], take: Take) -> tuple[list[Answer], list[Answer]]:
    """All answers, and those of the engine that was taken when each had begun."""
    connections = [await Connection.to(here.gateway.port) for _ in asks]
    answers = [connection.send(ask) for connection, ask in zip(connections, asks, strict=True)]
    await until(lambda: all(len(each.moments) >= BEGUN_EVENTS for each in answers), 30.0)
    here.audits.refresh()
    on_it = [each for each in answers if here.audits.engine_of(each.ask.id) == VICTIM]
    await take(here)
    await until(lambda: all(each.ended_at for each in answers), 60.0)
    for connection in connections:
        connection.close()
    return answers, on_it


async def moved(here: World) -> float:
    """Interruptions so far whose rest another node was asked for."""
    samples = await here.admin.samples()
    return sum(
        value
        for name, labels, value in samples
        if name == "pointsman_interruptions_total" and labels["resumed"] == "yes"
    )


async def drain(here: World) -> None:
    await here.admin.drain(VICTIM, True, DRAIN_S)
    await asyncio.sleep(DRAIN_S + 0.5)
    await put_back(here)


async def preempt(here: World) -> None:
    """All that runs there is taken away at once; the engine is well."""
    await here.admin.drain(VICTIM, True, 0.0)
    await asyncio.sleep(0.2)
    await put_back(here)


async def put_back(here: World) -> None:
    await here.admin.drain(VICTIM, False)
    await here.admin.until(all_up, UP_WITHIN_S)
    await asyncio.sleep(SLOW_START_S)


async def kill(here: World) -> None:
    victim = here.engines[VICTIM]
    victim.signal(signal.SIGKILL)
    await asyncio.to_thread(victim.reap)


async def stop(here: World) -> None:
    here.engines[VICTIM].signal(signal.SIGSTOP)


async def again(here: World, asks: Asks) -> None:
    """The engine runs again."""
    victim = here.engines[VICTIM]
    victim.start()
    await here.engine_ready(victim)
    await back(here, asks)


async def back(here: World, asks: Asks) -> None:
    """A real request has shown that the engine is well, and it has its full share."""
    async with asyncio.timeout(UP_WITHIN_S):
        while not all_up(await here.admin.states()):
            await ask_alone(here, asks)
    await asyncio.sleep(SLOW_START_S)


async def ask_alone(here: World, asks: Asks) -> None:
    connection = await Connection.to(here.gateway.port)
    await connection.ask(asks.next(stream=True, tokens=2))
    connection.close()


def penalised(ask: Ask) -> Ask:
    """The same request with a penalty, which counts what was said before."""
    return replace(ask, body=json.dumps(json.loads(ask.body) | {"presence_penalty": 0.5}).encode())


def arguments() -> argparse.Namespace:
    made = parser("resume", __doc__)
    made.add_argument("--streams", type=int, default=200, help="at once (default: 200)")
    made.add_argument("--by", choices=("tokens", "text"), default="tokens", help="how they go on (default: tokens)")
    made.set_defaults(policy="least_requests")  # each engine has its third, whichever is taken
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
