"""The commands: plan, run while telling how far it is, tell the result."""

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

import msgspec
from rich.console import Console

from pointsman.config.compare import CompareConfig, check_names, jobs_of
from pointsman.config.outputs import check_output, put_output
from pointsman.config.sim import RunConfig, built, check_journal, output_file
from pointsman.sim.exchange import Record
from pointsman.sim.experiment import Run, run
from pointsman.simulate.cases import Case, Measured, cases_of, measured
from pointsman.simulate.jobs import RunFailed, measure_all
from pointsman.simulate.plan import Plan, planned
from pointsman.simulate.progress import progress
from pointsman.simulate.sheet import as_csv, sheet
from pointsman.simulate.standing import PolicyRuns, by_policy
from pointsman.simulate.tell import as_json, tell

FAILED = 1
INTERRUPTED = 130
"""What a shell reports for Ctrl-C."""


def run_one(config: RunConfig) -> int:
    """`pointsman sim run`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    policy = built(config, config.policy, "policy")
    check_journal(config)
    plan, err = planned(config), Console(stderr=True)
    with ExitStack() as files:
        journal = files.enter_context(output_file(config.journal, "journal")) if config.journal else None
        requests = files.enter_context(output_file(config.requests, "requests")) if config.requests else None
        runs: list[Run] = []

        def work() -> None:
            with progress(plan.seconds, config.seeds, err) as begin:
                for number in range(config.seeds):
                    bar = begin(policy.name if config.seeds == 1 else f"{policy.name}, seed {config.seed + number}")
                    runs.append(run(plan.experiment(policy, number), bar.tick, journal.write if journal else None))
                    bar.end()

        status = _guarded(work, "run", err)
        if status:
            return status
        if requests is not None:
            requests.writelines(_lines(record for one in runs for record in one.records))
    results = [measured(one, config.seed + number) for number, one in enumerate(runs)]
    _told([PolicyRuns(policy.name, tuple(results))], plan)
    return 0


def compare(config: CompareConfig) -> int:
    """`pointsman sim compare`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    check_policies(config)
    if config.csv:
        check_output(config.csv, "csv")
    plan, err = planned(config), Console(stderr=True)
    found: list[Measured] = []
    cases = cases_of(plan.settled(), config.policies)
    status = _guarded(lambda: found.extend(simulated(cases, jobs_of(config), plan.seconds, err)), "compare", err)
    if status:
        return status
    results = by_policy(config.policies, found)
    _told(results, plan)
    if config.csv:
        put_output(config.csv, as_csv(sheet(results)), "csv")
        _written("figures", config.csv, err)
    return 0


def check_policies(config: CompareConfig) -> None:
    """Whether every policy can be built, and is named once. Raises ConfigError."""
    check_names(config)
    for name in config.policies:
        built(config, name, "policies")


def simulated(cases: Sequence[Case], jobs: int, seconds: float, err: Console) -> list[Measured]:
    """All cases, each of so many simulated seconds. Raises RunFailed, ConfigError and KeyboardInterrupt."""
    with progress(seconds, len(cases), err) as begin:
        return measure_all(cases, jobs, begin)


def _guarded(work: Callable[[], None], command: str, err: Console) -> int:
    """The exit status of the work, said in a line where it did not come to its end."""
    try:
        work()
    except KeyboardInterrupt:
        err.print(f"pointsman sim {command}: interrupted")
        return INTERRUPTED
    except RunFailed as error:
        err.print(f"pointsman sim {command}: {error}\n{error.details}", markup=False, highlight=False, soft_wrap=True)
        return FAILED
    return 0


def _told(results: Sequence[PolicyRuns], plan: Plan) -> None:
    if plan.config.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(as_json(results, plan)), indent=2).decode() + "\n")
    else:
        tell(results, plan, Console())


def _written(what: str, path: str, err: Console) -> None:
    err.print(f"{what} written to {path}", markup=False, highlight=False, soft_wrap=True)


def _lines(records: Iterable[Record]) -> Iterable[bytes]:
    return (msgspec.json.encode(record) + b"\n" for record in records)
