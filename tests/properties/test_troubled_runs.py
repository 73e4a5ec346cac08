"""Runs in which nodes die, hang and slow down at random: nothing is lost, in many steps at a time as in single ones."""

import random

import pytest
from tests.support.simulated import uneven

from pointsman.sim.delays import Delays
from pointsman.sim.experiment import Stage
from pointsman.sim.habits import Habits
from pointsman.sim.incidents import Failure, Incidents, Slowdown

NODES = ("fast-1", "fast-2", "slow-1", "slow-2")
POLICIES = ("round_robin", "fastest_completion", "least_requests")


def drawn(seed: int) -> Incidents:
    """Up to three failures of each node, one after the other, and slow-downs that may lie across them."""
    draw = random.Random(seed)
    failures, slowdowns = [], []
    for node in NODES:
        moment = draw.uniform(0.0, 3.0)
        for _ in range(draw.randint(0, 3)):
            ends_s = moment + draw.choice((0.0001, 0.3, 2.7, 7.1))
            mode = draw.choice(("kill", "stop"))
            failures.append(Failure(node=node, mode=mode, begins_s=moment, ends_s=ends_s))  # type: ignore[arg-type]
            moment = ends_s + draw.uniform(0.0, 4.0)
        if draw.random() < 0.5:
            factor = draw.choice((0.5, 2.0, 5.0))
            slowdowns.append(
                Slowdown(node=node, factor=factor, begins_s=draw.uniform(0.0, 5.0), ends_s=draw.uniform(6.0, 12.0))
            )
    return Incidents(tuple(slowdowns), tuple(failures))


def outcome(seed: int, *, exact: bool, resume: bool) -> list[tuple[object, ...]]:
    """What each request came to, after the accounts were found in order."""
    what = uneven(
        POLICIES[seed % 3],
        rate=14.0,
        seconds=12.0,
        incidents=drawn(seed),
        habits=Habits(plain=0.2, leaving=0.2, leaving_after_s=3.0),
        delays=(Delays(), Delays(0.1, 1.0))[seed % 2],
        gateways=1 + seed % 3,
        sharing_s=(0.0, 0.1)[seed % 2],
        exact=exact,
        resume=resume,
    )
    stage = Stage(what, lambda _second: None, None)
    records = stage.run().records
    assert len({one.id for one in records}) == len(records)
    assert sum(one.id.endswith("-0") for one in records) == len(what.demand.dialogues)
    assert all(dispatcher.at_rest() for dispatcher in stage.dispatchers)
    assert not stage.cluster.tries
    for node in stage.cluster.nodes.values():
        report = node.report(0.0)
        assert (report.running, report.waiting, report.kv_usage) == (0, 0, 0.0)
    return sorted(
        (
            one.id, one.node, one.problem, one.tries, one.interruptions, round(one.done_s, 6), one.cached_tokens,
            one.output_tokens, one.gap_s and round(one.gap_s, 6),
        )
        for one in records
    )  # fmt: skip


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_every_request_ends_once_whatever_happens_to_nodes(seed: int, *, resume: bool) -> None:
    assert outcome(seed, exact=False, resume=resume) == outcome(seed, exact=True, resume=resume)
