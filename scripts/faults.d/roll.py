"""Rolling restarts under load, of all engines or of the gateway's own workers: no request fails.

Engines are restarted one after another in two ways: as an operator would (drain over the admin port, wait until it is
empty, restart, undrain), and as an orchestrator would (SIGTERM, upon which an engine accepts nothing new and ends what
it has, then start it again). With --gateway the workers of the gateway are replaced instead, by SIGUSR2 to their
supervisor. Half of the clients keep their connections, the other half make a new one for each request.
"""

import argparse
import asyncio
import signal
import sys
import time
from collections import Counter

from scene.load import Load
from scene.processes import Engine
from scene.report import Report, Steps
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import played
from scene.usage import open_files
from scene.utilised import LEAD_IN_S, load_of, loaded, stage
from scene.utilised import arguments as load_arguments
from scene.world import World

EMPTY_WITHIN_S = 30.0
UP_WITHIN_S = 40.0
SHUTDOWN_S = 15.0
"""That a stopping engine, or worker, gives what it has; the longest answers take three."""
SLOW_START_S = 5.0
"""An engine that returns gets its full share after so long; the next is taken only then."""
WAYS = ("drain", "sigterm")
POLL_S = 0.05


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report("roll", dict(played(options, "seconds", "utilisation", "plain", "gateway", "ways")))
    more = {"brain": {"seed": options.seed, "slow_start_s": SLOW_START_S}, "timeouts": {"drain_s": SHUTDOWN_S}}
    async with stage(options, shutdown_s=SHUTDOWN_S, **more) as here:
        files = open_files(here.pids())
        load = load_of(options, here.gateway.port, options.seconds)
        async with loaded(here, load):
            if options.gateway:
                await roll_workers(report, here, steps)
            else:
                await roll_engines(report, here, options.ways, steps)
            await asyncio.sleep(LEAD_IN_S)
            load.stop()
        claim_answers(report, load)
        await claim_rest(report, here, files)
    return report


async def roll_engines(report: Report, here: World, ways: list[str], steps: Steps) -> None:
    table = report.table("engines, one after another", "way", "engine", "empty and gone", "ready again", "full share")
    for way in ways:
        for engine in here.engines.values():
            steps.say(f"restarting engine {engine.name} ({way})")
            began = time.monotonic()
            await (drained if way == "drain" else terminated)(here, engine)
            gone = time.monotonic() - began
            engine.start()
            await here.engine_ready(engine)
            ready = time.monotonic() - began
            if way == "drain":
                await here.admin.drain(engine.name, False)
            await full_share(here, engine)
            table.rows.append(
                (way, engine.name, f"{gone:.1f} s", f"{ready:.1f} s", f"{time.monotonic() - began:.1f} s")
            )
    report.claim(
        "every engine was restarted", len(table.rows) == len(ways) * len(here.engines), f"{len(table.rows)} times"
    )


async def drained(here: World, engine: Engine) -> None:
    """No new work, then nothing at all, then gone."""
    await here.admin.drain(engine.name, True)
    async with asyncio.timeout(EMPTY_WITHIN_S):
        while (await here.admin.get(f"/nodes/{engine.name}"))["outstanding"]:
            await asyncio.sleep(POLL_S)
    await terminated(here, engine)


async def terminated(_here: World, engine: Engine) -> None:
    engine.signal(signal.SIGTERM)
    await asyncio.to_thread(engine.reap, SHUTDOWN_S + 5.0)


async def full_share(here: World, engine: Engine) -> None:
    """Wait until the node is up and may hold as much as ever. Raises TimeoutError."""
    async with asyncio.timeout(UP_WITHIN_S):
        while (node := await here.admin.get(f"/nodes/{engine.name}"))["state"] != "up" or node["cap"] < node["slots"]:
            await asyncio.sleep(POLL_S)


async def roll_workers(report: Report, here: World, steps: Steps) -> None:
    steps.say("replacing the gateway's workers")
    before, began = set(here.pids()) - {here.gateway.pid}, time.monotonic()
    here.gateway.signal(signal.SIGUSR2)
    try:
        async with asyncio.timeout(UP_WITHIN_S):
            while before & set(here.pids()) or len(here.pids()) <= len(before):
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        pass
    after = set(here.pids()) - {here.gateway.pid}
    replaced = not before & after and len(after) == len(before) > 0
    seconds = time.monotonic() - began
    report.claim("every worker was replaced", replaced, f"{len(before - after)} of {len(before)} in {seconds:.1f} s")


def claim_answers(report: Report, load: Load) -> None:
    verdicts = Counter(each.verdict for each in load.sent)
    report.claim("no request failed", set(verdicts) == {"ok"}, dict(verdicts))
    table = report.table("requests", "over connections that are", "ended")
    for kept, name in ((True, "kept and used again"), (False, "new for each")):
        table.rows.append((name, dict(Counter(each.verdict for each in load.sent if each.kept is kept))))


def arguments() -> argparse.Namespace:
    made = parser("roll", __doc__)
    load_arguments(made, seconds=300.0)
    made.add_argument("--gateway", action="store_true", help="replace the gateway's workers (--workers, at least 2)")
    made.add_argument(
        "--ways", type=ways, default=list(WAYS), metavar="A,B", help="of restarting engines: drain,sigterm"
    )
    options = made.parse_args()
    if options.gateway:
        options.ways = None
        options.workers = max(2, options.workers)
    return options


def ways(text: str) -> list[str]:
    given = [part for part in text.split(",") if part]
    if not given or not set(given) <= set(WAYS):
        raise argparse.ArgumentTypeError(f"one or both of {','.join(WAYS)}")
    return given


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
