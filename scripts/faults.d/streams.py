"""A thousand streams at once for a minute: no error, flat memory, every account zero at the end.

The clients each keep one stream going, one after another. The emulated engines write slowly (a token every 300 ms and
stream), so that clients, engines and gateway together stay well below two CPUs and what is measured is the gateway, not
a machine that is full. Memory is that of all processes of the gateway, sampled every second after the warm-up.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from scene.asks import Asks, Shape
from scene.client import Answer
from scene.crowd import Crowd
from scene.report import Report, Steps, ms, quantiles
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import engine, played, settings
from scene.usage import cpu_seconds, open_files, resident_mib
from scene.world import Plan, World, world

FLAT = 0.05


@dataclass(slots=True)
class Measured:
    """Readings of the gateway while the crowd was there."""

    memory: list[float] = field(default_factory=list)
    fewest: int = 0
    least_share: float = 1.0
    """Of its room, that any node was left: equal engines without faults give no reason to take any."""
    queued: float = 0.0
    chunks: int = 0
    cpu_s: float = 0.0
    seconds: float = 0.0
    began: float = 0.0


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    slots = -(-2 * options.streams // 3)
    plan = Plan(engine(options.gap_ms, slots), settings(options), node={"slots": slots}, workers=options.workers)
    report = Report("streams", dict(played(options, "streams", "seconds", "warm_up", "gap_ms", "tokens")))
    async with world(plan, options.keep) as here:
        files = open_files(here.pids())
        asks = Asks(Shape((options.tokens // 2, options.tokens), (20, 60)), options.seed)
        crowd = Crowd(here.gateway.port, asks, options.streams, ramp_s=options.warm_up / 2)
        crowd.start()
        await wait(steps, "warming up", options.warm_up)
        measured = await measure(here, crowd, options.seconds, steps)
        steps.say("letting every stream end")
        await crowd.leave()
        report_load(report, crowd.answers, measured)
        claim_answers(report, crowd.answers, measured, options.streams)
        claim_memory(report, measured)
        await claim_rest(report, here, files)
    return report


async def wait(steps: Steps, what: str, seconds: float) -> None:
    for second in range(int(seconds)):
        steps.say(what, second / seconds)
        await asyncio.sleep(1.0)


async def measure(here: World, crowd: Crowd, seconds: float, steps: Steps) -> Measured:
    pids = here.pids()
    measured = Measured(fewest=crowd.under_way, began=asyncio.get_running_loop().time())
    chunks, cpu, began = crowd.chunks, cpu_seconds(pids), time.monotonic()
    for second in range(int(seconds)):
        steps.say(f"{crowd.under_way} streams at once", second / seconds)
        await asyncio.sleep(1.0)
        measured.memory.append(resident_mib(pids))
        measured.fewest = min(measured.fewest, crowd.under_way)
        shares = [node.get("share", 1.0) for node in await here.admin.get("/nodes")]
        measured.least_share = min(measured.least_share, *shares)
    measured.chunks, measured.cpu_s = crowd.chunks - chunks, cpu_seconds(pids) - cpu
    measured.seconds = time.monotonic() - began
    measured.queued = (await here.admin.metrics()).get("pointsman_queued_total", 0.0)
    return measured


def report_load(report: Report, answers: list[Answer], measured: Measured) -> None:
    mine = [answer for answer in answers if answer.moments and answer.sent_at >= measured.began]
    firsts = [answer.moments[0] - answer.sent_at for answer in mine]
    gaps = [after - before for each in mine for before, after in zip(each.moments, each.moments[1:], strict=False)]
    table = report.table("while all streams run", "figure", "value")
    table.rows += [
        ("requests sent in all", len(answers)),
        ("chunks a second", f"{measured.chunks / measured.seconds:.0f}"),
        ("gateway's CPU per chunk", f"{1e6 * measured.cpu_s / max(1, measured.chunks):.1f} µs"),
        ("gateway's CPU", f"{100 * measured.cpu_s / measured.seconds:.0f} % of one"),
        ("first token p50 / p99", " / ".join(map(ms, quantiles(firsts, 0.5, 0.99)))),
        ("between chunks p50 / p99 / max", " / ".join(map(ms, quantiles(gaps, 0.5, 0.99, 1.0)))),
        ("requests that had to queue", f"{measured.queued:.0f}"),
        ("least share of its room left to a node", f"{measured.least_share:.2f}"),
        ("memory least / most", f"{min(measured.memory):.1f} / {max(measured.memory):.1f} MiB"),
    ]


def claim_answers(report: Report, answers: list[Answer], measured: Measured, streams: int) -> None:
    verdicts = Counter(answer.verdict for answer in answers)
    report.claim("no error, every token in its place", set(verdicts) == {"ok"}, dict(verdicts))
    report.claim(
        f"{streams} streams at once throughout", measured.fewest >= 0.99 * streams, f"at least {measured.fewest}"
    )


def claim_memory(report: Report, measured: Measured) -> None:
    middle = quantiles(measured.memory, 0.5)[0]
    off = max(abs(each - middle) for each in measured.memory) / middle
    report.claim(f"memory flat after the warm-up (±{FLAT:.0%})", off <= FLAT, f"{middle:.1f} MiB ± {off:.1%}")


def arguments() -> argparse.Namespace:
    made = parser("streams", __doc__)
    made.add_argument("--streams", type=int, default=1000, help="at once (default: 1000)")
    made.add_argument("--seconds", type=float, default=60.0, help="measured, after the warm-up (default: 60)")
    made.add_argument("--warm-up", type=float, default=30.0, help="seconds before; streams join over half of it")
    made.add_argument("--gap-ms", type=float, default=300.0, help="between the tokens of a stream (default: 300)")
    made.add_argument("--tokens", type=int, default=40, help="most tokens of an answer (default: 40)")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
