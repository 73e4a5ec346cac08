"""Gateways that tell each other what they booked."""

from collections import Counter

import pytest
from tests.support.simulated import experiment, quick_nodes, rows_demand, uneven

from pointsman.brain.model.settings import BrainSettings
from pointsman.sim.experiment import Run, Stage, run

LATER = rows_demand(*((1.0 + 0.2 * number, 500, 400) for number in range(12)))


def placed(**more: object) -> list[int]:
    """How many requests each of three nodes got."""
    result = run(experiment("least_requests", LATER, quick_nodes(3), gateways=3, **more), lambda _second: None)
    return sorted(Counter(record.node for record in result.records).values())


def test_who_hears_of_the_others_bookings_balances_as_one() -> None:
    assert placed(sharing_s=0.1) == [4, 4, 4]


def test_they_hold_a_node_s_slots_together() -> None:
    nodes = quick_nodes(1, declare=True, max_num_seqs=6)
    many = rows_demand(*((1.0, 100, 300),) * 12)

    def at_once(**more: object) -> int:
        result = run(experiment("least_requests", many, nodes, gateways=3, **more), lambda _second: None)
        assert all(record.ok for record in result.records)
        return sum(record.waited_s == 0.0 for record in result.records)

    assert at_once(sharing_s=0.1) == 6
    assert at_once() == 12


def test_those_who_hear_of_each_other_do_not_count_themselves_as_unheard() -> None:
    stage = Stage(experiment("least_requests", LATER, quick_nodes(2), gateways=3, sharing_s=0.1), _ignore, None)
    assert {dispatcher.settings.gateways for dispatcher in stage.dispatchers} == {1}


def _ignore(_second: float) -> None:
    pass


@pytest.mark.parametrize("policy", ["two_choices", "fastest_completion"])
def test_sharing_repeats_to_the_last_record_and_leaves_nothing_booked(policy: str) -> None:
    def once() -> Run:
        what = uneven(policy, gateways=3, sharing_s=0.05, settings=BrainSettings(queue_timeout_s=5.0))
        stage = Stage(what, _ignore, None)
        result = stage.run()
        assert all(dispatcher.at_rest() for dispatcher in stage.dispatchers)
        return result

    assert once().records == once().records
