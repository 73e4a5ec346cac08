"""Clients leave in every phase, by reset and by FIN: engines hear of it within a second, accounts return to zero.

First a party of clients is brought into each phase in turn (connecting to a node that completes no handshake, queued,
mid-stream, waiting for a plain answer, before headers, before the first byte) and leaves all at once; the engines' own
records say when they were told. Then a thousand clients leave 0-5 ms after sending, in whatever phase that is, and
hundreds more in the middle of their streams.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import numpy as np
from scene.asks import Asks, Shape
from scene.client import Connection, Cut
from scene.hole import Hole
from scene.leaving import HEARD_WITHIN_S, Heard, Left, heard
from scene.phases import HOLE_MODEL, PHASES, QUEUE_MODEL, Party, Phase, Stage, until
from scene.report import Report, Steps, ms
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import engine, played, settings
from scene.usage import open_files
from scene.world import Plan, world

CUTS: tuple[Cut, ...] = ("rst", "fin")
REST_WITHIN_S = 3.0
GAP_MS = 20.0
SLOTS = 512
AT_ONCE = 50
LATEST_S = 0.005
Seen = tuple[Heard, float]
"""What the engines heard, and the seconds until every account was zero."""


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report("cuts", dict(played(options, "clients", "rounds", "cancels", "aborts")))
    flags = engine(GAP_MS, SLOTS, max_model_len=4096, shutdown_seconds=0.1)
    plan = Plan(flags, settings(options), {"models": ["m"], "slots": SLOTS}, ("m", QUEUE_MODEL), options.workers)
    hole = Hole()
    try:
        await hole.open()
        async with world(plan, options.keep) as here:
            stage = Stage(here, hole, Asks(Shape((50, 100)), options.seed))
            await here.admin.add(id="queue", url=here.engines["a"].url, models=[QUEUE_MODEL], slots=1)
            await here.admin.add(id="hole", url=hole.url, models=[HOLE_MODEL])
            files = open_files(here.pids())
            await by_phase(report, stage, options, steps)
            await in_numbers(report, stage, options, steps)
            answer = await (await Connection.to(here.gateway.port)).ask(stage.asks.next(stream=True, tokens=3))
            report.claim("a request after all that is answered", answer.verdict == "ok", answer.verdict)
            await claim_rest(report, here, files)
    finally:
        hole.close()
    return report


async def by_phase(report: Report, stage: Stage, options: argparse.Namespace, steps: Steps) -> None:
    table = report.table(
        "clients leave, by phase", "phase", "cut", "requests", "aborted", "never begun", "latest told", "accounts zero"
    )
    await stage.hole.fall_silent()
    right, seen, done = True, [], 0
    for phase in PHASES:
        for cut in CUTS:
            steps.say(f"leaving: {phase.name}, {cut}", done / (len(PHASES) * len(CUTS)))
            each = [await one_party(stage, phase, cut, options.clients) for _ in range(options.rounds)]
            table.rows.append((phase.name, cut, *row(each)))
            right &= all((one.aborted if phase.started else one.never) == one.requests for one, _ in each)
            seen, done = seen + each, done + 1
        await stage.here.heal()
    reached = stage.hole.reached()
    report.claim("the engine aborts, or never had the request", right and not reached, f"{done} phases and ways")
    claim_soon(report, "in every phase", seen)
    await asyncio.sleep(2 * GAP_MS / 1000)


async def one_party(stage: Stage, phase: Phase, cut: Cut, size: int) -> Seen:
    party = await phase.enter(stage, size)
    wall = time.time()
    party.cut(cut)
    return await outcome(stage, [Left(answer.ask.id, wall) for answer in party.answers])


async def outcome(stage: Stage, left: list[Left]) -> Seen:
    zero_after, _ = await stage.here.admin.at_rest(REST_WITHIN_S)
    return await heard(stage.here, left), zero_after


def row(seen: list[Seen]) -> tuple[int, int, int, str, str]:
    total = [sum(getattr(one, name) for one, _ in seen) for name in ("requests", "aborted", "never")]
    return (*total, ms(max(one.latest_s for one, _ in seen)), ms(max(zero for _, zero in seen)))  # type: ignore[return-value]


def claim_soon(report: Report, when: str, seen: list[Seen]) -> None:
    latest, zero = max(one.latest_s for one, _ in seen), max(zero for _, zero in seen)
    report.claim(f"engines told within 1 s, {when}", latest <= HEARD_WITHIN_S, f"latest after {ms(latest)}")
    report.claim(f"accounts zero within 1 s, {when}", zero <= HEARD_WITHIN_S, f"latest after {ms(zero)}")


async def in_numbers(report: Report, stage: Stage, options: argparse.Namespace, steps: Steps) -> None:
    table = report.table(
        "clients leave in numbers",
        "when",
        "requests",
        "aborted",
        "finished",
        "never begun",
        "still running",
        "latest told",
    )
    crowds = (("0-5 ms after sending", options.cancels, early), ("mid-stream", options.aborts, midway))
    for name, count, leave in crowds:
        steps.say(f"{count} clients leave {name}")
        one, zero_after = await outcome(stage, await many(stage, options.seed, count, leave))
        table.rows.append((name, one.requests, one.aborted, one.finished, one.never, one.running, ms(one.latest_s)))
        ended = one.aborted + one.finished + one.never
        report.claim("each aborted, finished or never begun", ended == count, f"{ended} of {count}, {name}")
        claim_soon(report, name, [(one, zero_after)])


Leave = Callable[[Stage, Cut, bool, float], Awaitable[Left]]


async def many(stage: Stage, seed: int, count: int, leave: Leave) -> list[Left]:
    """So many clients, some at once, each leaving at its own moment."""
    random, room = np.random.default_rng(seed), asyncio.Semaphore(AT_ONCE)

    async def one(number: int, delay_s: float) -> Left:
        async with room:
            return await leave(stage, CUTS[number % 2], number % 3 > 0, delay_s)

    return list(await asyncio.gather(*[one(number, random.uniform(0.0, LATEST_S)) for number in range(count)]))


async def early(stage: Stage, cut: Cut, stream: bool, delay_s: float) -> Left:
    party = await stage.party(1, stream=stream)
    await asyncio.sleep(delay_s)
    return left_now(party, cut)


async def midway(stage: Stage, cut: Cut, stream: bool, delay_s: float) -> Left:  # noqa: ARG001 - a stream it must be
    party = await stage.party(1)
    await until(lambda: len(party.answers[0].moments) >= 2)
    await asyncio.sleep(delay_s)
    return left_now(party, cut)


def left_now(party: Party, cut: Cut) -> Left:
    party.cut(cut)
    return Left(party.answers[0].ask.id, time.time())


def arguments() -> argparse.Namespace:
    made = parser("cuts", __doc__)
    made.add_argument("--clients", type=int, default=10, help="that leave at once in a phase (default: 10)")
    made.add_argument("--rounds", type=int, default=3, help="of each phase and way to leave (default: 3)")
    made.add_argument("--cancels", type=int, default=1000, help="clients that leave within 5 ms (default: 1000)")
    made.add_argument("--aborts", type=int, default=500, help="clients that leave mid-stream (default: 500)")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
