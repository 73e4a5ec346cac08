"""One of three engines is stopped (SIGSTOP) under load and goes on later: the others' clients notice nothing.

A stopped engine still accepts connections within a millisecond and never says a word. The same load, to the byte, runs
twice: undisturbed, and with one engine stopped for a while. Compared are requests the other two served without a second
try, sent between the same two moments of both runs. What became of the requests on the stopped engine is told, too: the
gateway's patience is shortened so that it ends while the engine is stopped.
"""

import argparse
import asyncio
import signal
import sys
from collections import Counter
from dataclasses import dataclass

from scene.asks import Ask
from scene.client import Answer
from scene.load import Load, Sent
from scene.report import Report, Steps, ms, quantiles
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import played
from scene.usage import open_files
from scene.utilised import LEAD_IN_S, load_of, loaded, stage
from scene.utilised import arguments as load_arguments
from scene.watch import Watch
from scene.world import World

VICTIM = "b"
CALM = 0.2
"""Most by which the others' P99 may exceed that of the undisturbed run."""
PROBE_EVERY_S = 10.0
PROBE_S = 2.0
OUT_WITHIN_S = 2 * (PROBE_EVERY_S + PROBE_S)
BACK_WITHIN_S = 20.0
OUT = ("suspect", "down")


@dataclass(frozen=True, slots=True)
class Run:
    """What clients and engines saw of one run; `stopped` and `went_on` are seconds since its load began."""

    load: Load
    watch: Watch
    here: World
    stopped: float
    went_on: float

    def sent_meanwhile(self) -> list[Sent]:
        return [each for each in self.load.sent if self.stopped <= each.due < self.went_on]

    def engines_of(self, ask: Ask) -> list[str]:
        """Those that started it, in order."""
        return [engine for engine, record in self.here.audits.of(ask.id) if record.event == "start"]

    def beside(self) -> list[Answer]:
        """Answers the other engines gave at the first try, asked for while the victim was stopped."""
        answers = [each.answer for each in self.sent_meanwhile() if each.answer]
        return [each for each in answers if len(tried := self.engines_of(each.ask)) == 1 and tried[0] != VICTIM]


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report(
        "stop", dict(played(options, "seconds", "stopped", "utilisation", "plain", "first_token", "silence"))
    )
    calm = await one_run(report, options, steps, disturbed=False)
    stormy = await one_run(report, options, steps, disturbed=True)
    claim_others(report, calm, stormy)
    tell_victims(report, stormy)
    claim_states(report, stormy)
    return report


async def one_run(report: Report, options: argparse.Namespace, steps: Steps, *, disturbed: bool) -> Run:
    timeouts = {"probe_s": PROBE_S, "between_tokens_s": options.silence}
    brain = {"seed": options.seed, "first_token_floor_s": options.first_token}
    name = "stopped" if disturbed else "undisturbed"
    async with stage(options, name, timeouts=timeouts, brain=brain) as here:
        files = open_files(here.pids())
        load = load_of(options, here.gateway.port, options.seconds)
        steps.say(name)
        async with loaded(here, load) as watch:
            if disturbed:
                here.engines[VICTIM].signal(signal.SIGSTOP)
            await asyncio.sleep(options.stopped)
            if disturbed:
                here.engines[VICTIM].signal(signal.SIGCONT)
        if disturbed:
            await claim_rest(report, here, files)
        return Run(load, watch, here, LEAD_IN_S, LEAD_IN_S + options.stopped)


def claim_others(report: Report, calm: Run, stormy: Run) -> None:
    table = report.table(
        "the others' answers, asked for meanwhile", "run", "answers", "first token p50 / p99", "total p50 / p99"
    )
    p99: list[tuple[float, float]] = []
    for name, each in (("undisturbed", calm), ("one engine stopped", stormy)):
        answers = each.beside()
        firsts = quantiles(
            [answer.moments[0] - answer.sent_at for answer in answers if answer.ask.stream and answer.moments],
            0.5,
            0.99,
        )
        totals = quantiles([answer.ended_at - answer.sent_at for answer in answers], 0.5, 0.99)
        table.rows.append((name, len(answers), " / ".join(map(ms, firsts)), " / ".join(map(ms, totals))))
        p99.append((firsts[1], totals[1]))
    for what, before, after in (("first token", p99[0][0], p99[1][0]), ("total", p99[0][1], p99[1][1])):
        held = after <= (1 + CALM) * before
        report.claim(f"the others' P99 ({what}) within {CALM:.0%}", held, f"{ms(before)} undisturbed, {ms(after)} now")
    verdicts = Counter(answer.verdict for answer in stormy.beside())
    report.claim("no request of the others fails", set(verdicts) <= {"ok"}, dict(verdicts))
    verdicts = Counter(sent.verdict for sent in calm.load.sent)
    report.claim("undisturbed, no request fails", set(verdicts) <= {"ok"}, dict(verdicts))


def tell_victims(report: Report, stormy: Run) -> None:
    """A table of what became of the requests that the stopped engine had."""
    table = report.table("requests on the stopped engine", "when", "count", "ended", "longest")
    on_it = [each for each in stormy.load.sent if each.answer and VICTIM in stormy.engines_of(each.answer.ask)]
    before = [each for each in on_it if each.due < stormy.stopped and ended(stormy, each) > stormy.stopped]
    groups = {
        "there at the stop, begun": [each for each in before if begun(stormy, each)],
        "there at the stop, not begun": [each for each in before if not begun(stormy, each)],
        "sent to it while stopped": [each for each in on_it if each in stormy.sent_meanwhile()],
    }
    for name, group in groups.items():
        longest = max((each.answer.ended_at - each.answer.sent_at for each in group if each.answer), default=0.0)
        table.rows.append((name, len(group), dict(Counter(each.verdict for each in group)), ms(longest)))
    waited = groups["there at the stop, not begun"] + groups["sent to it while stopped"]
    late = [each for each in waited if ended(stormy, each) >= stormy.went_on]
    report.claim("none that had not begun waits until it goes on", not late, f"{len(late)} of {len(waited)}")
    honest = {"ok", "error event", "status 504", "status 502"}
    strange = Counter(each.verdict for each in on_it if each.verdict not in honest)
    report.claim("requests on the stopped engine have an honest end", not strange, dict(strange) or "all of them")


def begun(run: Run, sent: Sent) -> bool:
    return bool(sent.answer and sent.answer.moments and run.load.at(sent.answer.moments[0]) < run.stopped)


def ended(run: Run, sent: Sent) -> float:
    return run.load.at(sent.answer.ended_at) if sent.answer else 0.0


def claim_states(report: Report, stormy: Run) -> None:
    watch, stopped, went_on = stormy.watch, stormy.stopped, stormy.went_on
    table = report.table("the stopped engine", "what", "after")
    table.rows += [("states after the stop", watch.story(VICTIM, stopped)), ("goes on", f"+{went_on - stopped:.1f} s")]
    out = watch.first(VICTIM, OUT, after=stopped)
    measured = "never" if out is None else f"{out - stopped:.1f} s after the stop"
    report.claim("out within two probes", out is not None and out - stopped <= OUT_WITHIN_S, measured)
    back = watch.first(VICTIM, ("up",), after=went_on)
    measured = "not before the load ended" if back is None else f"{back - went_on:.1f} s after it went on"
    report.claim(
        f"back within {BACK_WITHIN_S:.0f} s of going on", back is not None and back - went_on <= BACK_WITHIN_S, measured
    )
    others = [change for change in watch.changes if change.node != VICTIM and change.at > 0 and change.state != "up"]
    report.claim("the other two stay up", not others, [f"{c.node} {c.state}" for c in others] or "both")


def arguments() -> argparse.Namespace:
    made = parser("stop", __doc__)
    load_arguments(made, seconds=75.0)
    made.add_argument("--stopped", type=float, default=40.0, help="seconds that the engine is stopped (default: 40)")
    made.add_argument("--first-token", type=float, default=5.0, help="the gateway's least patience (default: 5)")
    made.add_argument("--silence", type=float, default=10.0, help="its patience inside a stream (default: 10)")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
