"""The commands: plan, run while telling how far it is, tell the result."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import msgspec
from rich.console import Console

from pointsman.brain.policies.base import Policy
from pointsman.config.compare import CompareConfig, jobs_of
from pointsman.config.outputs import check_apart
from pointsman.config.sim import RunConfig, built, check_journal, check_recording, output_file
from pointsman.config.sweep import SweepConfig, check_sweep
from pointsman.observe.record import Sink
from pointsman.observe.recording import Recorder
from pointsman.sim.experiment import Run, run
from pointsman.sim.record import Record
from pointsman.simulate.cases import Case, Measured, cases_of, measured
from pointsman.simulate.command import check, guarded, print_json, simulated, write
from pointsman.simulate.plan import Plan, planned
from pointsman.simulate.progress import progress
from pointsman.simulate.report import comparison_page, sweep_page
from pointsman.simulate.robustness import Held, robustness
from pointsman.simulate.sheet import as_csv, compared_sheet, swept_sheet
from pointsman.simulate.standing import PolicyRuns, by_policy
from pointsman.simulate.sweep import Swept, scenes_of
from pointsman.simulate.sweep import sweep as sweep_scene
from pointsman.simulate.tell import as_json, tell
from pointsman.simulate.tell_robust import robust_json, tell_robust
from pointsman.simulate.tell_sweep import swept_json, tell_sweep


def run_one(config: RunConfig) -> int:
    """`pointsman sim run`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    policy = built(config, config.policy, "policy")
    check_journal(config)
    check_recording(config)
    written = {key: getattr(config, key) for key in ("journal", "requests", "recording")}
    check_apart(written, config.traces)
    plan = planned(config)
    with ExitStack() as files:
        journal = files.enter_context(output_file(config.journal, "journal")) if config.journal else None
        requests = files.enter_context(output_file(config.requests, "requests")) if config.requests else None
        recording = files.enter_context(output_file(config.recording, "recording")) if config.recording else None
        write_call = journal.write if journal else None
        recorder = Recorder(recording.write, most_pending=sys.maxsize) if recording else None
        runs = guarded(lambda: _runs(plan, config.policy, policy, write_call, recorder), "run", Console(stderr=True))
        if isinstance(runs, int):
            return runs
        if recorder is not None:
            recorder.flush()
        if requests is not None:
            requests.writelines(_lines(record for one in runs for record in one.records))
    results = (measured(one, config.policy, config.seed + number) for number, one in enumerate(runs))
    _told([PolicyRuns(config.policy, tuple(results))], plan)
    return 0


def compare(config: CompareConfig) -> int:
    """`pointsman sim compare`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    check(config)
    plan, err = planned(config), Console(stderr=True)

    def measure(cases: Sequence[Case]) -> list[Measured]:
        return simulated(cases, jobs_of(config), plan.seconds, err)

    def work() -> tuple[list[PolicyRuns], list[Held]]:
        cases = cases_of(plan.settled(), config.policies, shaped=bool(config.report))
        results = by_policy(config.policies, measure(cases))
        return results, robustness(results, plan.settled(), measure) if config.robustness else []

    found = guarded(work, "compare", err)
    if isinstance(found, int):
        return found
    results, held = found
    if config.csv:
        write("figures", config.csv, as_csv(compared_sheet(results, held)), "csv", err)
    if config.report:
        write("report", config.report, comparison_page(results, plan, held), "report", err)
    _told(results, plan, held)
    return 0


def sweep(config: SweepConfig) -> int:
    """`pointsman sim sweep`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    check_sweep(config)
    check(config)
    err = Console(stderr=True)

    def work() -> list[Swept]:
        def measure(cases: Sequence[Case]) -> list[Measured]:
            return simulated(cases, jobs_of(config), config.seconds, err)

        shaped = bool(config.report)
        return [sweep_scene(scene, measure, shaped=shaped) for scene in scenes_of(config, measure)]

    found = guarded(work, "sweep", err)
    if isinstance(found, int):
        return found
    if config.csv:
        write("figures", config.csv, as_csv(swept_sheet(found)), "csv", err)
    if config.report:
        write("report", config.report, sweep_page(found), "report", err)
    if config.json:
        print_json(swept_json(found, config))
    else:
        tell_sweep(found, config, Console())
    return 0


def _runs(plan: Plan, name: str, policy: Policy, journal: Sink | None, recorder: Recorder | None) -> list[Run]:
    """The policy on every seed."""
    config, runs, observer = plan.config, [], recorder.handlers if recorder else None
    with progress(plan.seconds, config.seeds, Console(stderr=True)) as begin:
        for number in range(config.seeds):
            bar = begin(name if config.seeds == 1 else f"{name}, seed {config.seed + number}")
            runs.append(run(plan.experiment(policy, number), bar.tick, journal, observer))
            bar.end()
    return runs


def _told(results: Sequence[PolicyRuns], plan: Plan, held: Sequence[Held] = ()) -> None:
    if plan.config.json:
        more = {"robustness": robust_json(held)} if held else {}
        print_json(as_json(results, plan) | more)
    else:
        out = Console()
        tell(results, plan, out)
        if held:
            tell_robust(held, out)


def _lines(records: Iterable[Record]) -> Iterable[bytes]:
    return (msgspec.json.encode(record) + b"\n" for record in records)
