"""One of three engines is killed under load: only streams it was writing end early, and it returns by itself.

The load is a reproducible Poisson process at a share of what the three engines serve under permanent backlog. A request
whose answer has not begun when its engine dies is answered by another engine; a stream that has begun ends with exactly
one error event and [DONE]. The engine is started again later; nobody tells the gateway.
"""

import argparse
import asyncio
import signal
import sys
from collections import Counter

from scene.load import Load, Sent
from scene.report import Report, Steps
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import played
from scene.usage import open_files
from scene.utilised import arguments as load_arguments
from scene.utilised import load_of, loaded, stage
from scene.watch import Watch
from scene.world import World

VICTIM = "b"
RETURN_WITHIN_S = 15.0
"""After it is ready again: what is left of its time out, the next probe, one real request."""


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report("kill", dict(played(options, "seconds", "down", "utilisation", "plain")))
    async with stage(options) as here:
        files = open_files(here.pids())
        load = load_of(options, here.gateway.port, options.seconds)
        steps.say("load before the kill")
        async with loaded(here, load) as watch:
            killed, ready = await kill_and_restart(here, load, options.down, steps)
            await watch.until(VICTIM, "up", load.demand.arrivals[-1][0] - load.now)
            steps.say("load to its end")
        claim_answers(report, here, load)
        claim_return(report, here, load, watch, killed, ready)
        await claim_rest(report, here, files, lost_with=VICTIM)
    return report


async def kill_and_restart(here: World, load: Load, down_s: float, steps: Steps) -> tuple[float, float]:
    """When it was killed, and when it was ready again."""
    engine, killed = here.engines[VICTIM], load.now
    engine.signal(signal.SIGKILL)
    steps.say("one engine is dead")
    await asyncio.to_thread(engine.reap)
    await asyncio.sleep(down_s)
    engine.start()
    await here.engine_ready(engine)
    steps.say("it runs again")
    return killed, load.now


def claim_answers(report: Report, here: World, load: Load) -> None:
    lost = [each for each in load.sent if each.answer and here.audits.lost(each.answer.ask.id, VICTIM)]
    begun = [each for each in lost if begun_by_victim(here, each)]
    rest = [each for each in lost if each not in begun]
    others = [each for each in load.sent if each not in lost]
    table = report.table("what became of the requests", "requests", "count", "ended")
    for name, group in (("on the dead engine, begun", begun), ("on it, not begun", rest), ("all others", others)):
        table.rows.append((name, len(group), verdicts(group)))
    report.claim(
        "streams that had begun end with one error event and [DONE]",
        all(each.verdict == "error event" for each in begun),
        verdicts(begun),
    )
    report.claim("those not begun are answered elsewhere", all(each.verdict == "ok" for each in rest), verdicts(rest))
    report.claim("no other request fails", all(each.verdict == "ok" for each in others), verdicts(others))


def begun_by_victim(here: World, sent: Sent) -> bool:
    """Whether the client has any of its answer, and no other engine was asked since.

    Moments would not tell: what the engine sent last may reach the client after its death.
    """
    answer = sent.answer
    return answer is not None and answer.begun and here.audits.engine_of(answer.ask.id) == VICTIM


def verdicts(group: list[Sent]) -> dict[str, int]:
    return dict(Counter(each.verdict for each in group))


def claim_return(report: Report, here: World, load: Load, watch: Watch, killed: float, ready: float) -> None:
    up = watch.first(VICTIM, ("up",), after=ready)
    table = report.table("the engine", "what", "seconds after the kill")
    table.rows += [("states", watch.story(VICTIM, killed)), ("ready again", f"{ready - killed:.1f}")]
    report.claim(
        f"it returns by itself within {RETURN_WITHIN_S:.0f} s of being ready",
        up is not None and up - ready <= RETURN_WITHIN_S,
        "not before the load ended"
        if up is None
        else f"{up - ready:.1f} s after it was ready, {up - killed:.1f} s after the kill",
    )
    served = [each for each in load.sent if up and each.due > up and each.answer]
    on_it = sum(here.audits.engine_of(each.answer.ask.id) == VICTIM for each in served if each.answer)
    report.claim("it gets work again", on_it > 0, f"{on_it} of {len(served)} requests since")


def arguments() -> argparse.Namespace:
    made = parser("kill", __doc__)
    load_arguments(made, seconds=45.0)
    made.add_argument("--down", type=float, default=5.0, help="seconds until it is started again (default: 5)")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
