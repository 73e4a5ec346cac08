"""The commands: plan, run while telling how far it is, tell the result."""

import sys
from collections.abc import Iterable
from contextlib import ExitStack

import msgspec
from rich.console import Console

from pointsman.brain.policies.base import Policy
from pointsman.config.sim import CompareConfig, RunConfig, built, output_file
from pointsman.observe.record import Sink
from pointsman.sim.exchange import Record
from pointsman.sim.experiment import Run, run
from pointsman.simulate.plan import Plan, planned
from pointsman.simulate.progress import progress
from pointsman.simulate.tell import PolicyRuns, as_json, tell

INTERRUPTED = 130
"""What a shell reports for Ctrl-C."""


def run_one(config: RunConfig) -> int:
    """`pointsman sim run`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    policy = built(config, config.policy, "policy")
    plan = planned(config)
    with ExitStack() as files:
        journal = files.enter_context(output_file(config.journal, "journal")) if config.journal else None
        requests = files.enter_context(output_file(config.requests, "requests")) if config.requests else None
        results = _simulated(plan, [policy], journal.write if journal else None)
        if results is not None and requests is not None:
            requests.writelines(_lines(record for one in results[0].runs for record in one.records))
    return _told(results, plan)


def compare(config: CompareConfig) -> int:
    """`pointsman sim compare`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    policies = [built(config, name, "policies") for name in config.policies]
    plan = planned(config)
    return _told(_simulated(plan, policies, None), plan)


def _simulated(plan: Plan, policies: Iterable[Policy], journal: Sink | None) -> list[PolicyRuns] | None:
    """Every policy on every seed; None when interrupted."""
    config, err = plan.config, Console(stderr=True)
    try:
        with progress(plan.seconds, err) as begin:

            def one(policy: Policy, number: int) -> Run:
                name = policy.name if config.seeds == 1 else f"{policy.name}, seed {config.seed + number}"
                return run(plan.experiment(policy, number), begin(name), journal)

            return [
                PolicyRuns(policy.name, tuple(one(policy, number) for number in range(config.seeds)))
                for policy in policies
            ]
    except KeyboardInterrupt:
        err.print("pointsman sim: interrupted")
        return None


def _told(results: list[PolicyRuns] | None, plan: Plan) -> int:
    if results is None:
        return INTERRUPTED
    if plan.config.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(as_json(results, plan)), indent=2).decode() + "\n")
    else:
        tell(results, plan, Console())
    return 0


def _lines(records: Iterable[Record]) -> Iterable[bytes]:
    return (msgspec.json.encode(record) + b"\n" for record in records)
