"""Several gateways before the same nodes: who comes to which, and that none knows what the others do."""

from collections import Counter

import pytest
from tests.support.simulated import experiment, quick_nodes, rows_demand, uneven

from pointsman.brain.model.facts import Placed
from pointsman.sim.cluster import Spread, by_session, in_turn
from pointsman.sim.demand import Demand, Dialogue, RowAsk
from pointsman.sim.experiment import Experiment, Stage, run
from pointsman.workload.rows import TraceRow

THREE = rows_demand(*((float(second), 100, 2) for second in range(9)))
TALKS = Demand(
    tuple(
        Dialogue(float(at), f"s{at}", tuple(RowAsk(TraceRow(0.0, 100, 2, think_s=1.0)) for _ in range(4)))
        for at in range(6)
    ),
    "talks",
)


def placed(what: Experiment) -> list[list[Placed]]:
    """What each gateway placed."""
    stage = Stage(what, lambda _second: None, None)
    heard: list[list[Placed]] = [[] for _ in stage.dispatchers]
    for dispatcher, facts in zip(stage.dispatchers, heard, strict=True):
        dispatcher.subscribe({Placed: facts.append})
    stage.run()
    assert all(dispatcher.at_rest() for dispatcher in stage.dispatchers)
    return heard


def test_requests_come_to_the_gateways_in_turn() -> None:
    heard = placed(experiment("round_robin", THREE, quick_nodes(2), gateways=3))
    assert [len(facts) for facts in heard] == [3, 3, 3]
    assert [fact.request.id for fact in heard[1]] == ["1-0", "4-0", "7-0"]


@pytest.mark.parametrize(("spread", "most"), [(in_turn, 3), (by_session, 1)])
def test_a_session_stays_with_its_gateway_where_its_connection_would(spread: Spread, most: int) -> None:
    heard = placed(experiment("round_robin", TALKS, quick_nodes(2), gateways=3, spread=spread))
    seen = {(number, fact.request.session) for number, facts in enumerate(heard) for fact in facts}
    gateways = Counter(session for _, session in seen)
    assert len(gateways) == 6
    assert max(gateways.values()) == most


def test_no_gateway_knows_what_the_others_placed() -> None:
    """Nine requests at once to two nodes: one gateway balances them, three that each hold three cannot."""
    at_once = rows_demand(*((1.0, 500, 40),) * 9)
    (one,) = placed(experiment("least_requests", at_once, quick_nodes(2)))
    assert sorted(Counter(fact.node for fact in one).values()) == [4, 5]
    three = placed(experiment("least_requests", at_once, quick_nodes(2), gateways=3))
    assert all(sorted(Counter(fact.node for fact in facts).values()) == [1, 2] for facts in three)


def test_gateways_are_told_how_many_they_are_and_draw_each_for_itself() -> None:
    stage = Stage(experiment("two_choices", THREE, quick_nodes(2), gateways=3), lambda _second: None, None)
    settings = [dispatcher.settings for dispatcher in stage.dispatchers]
    assert {one.gateways for one in settings} == {3}
    assert len({one.seed for one in settings}) == 3


def test_several_gateways_repeat_to_the_last_record() -> None:
    first, second = (run(uneven("two_choices", gateways=3, spread=by_session), lambda _second: None) for _ in range(2))
    assert first.records == second.records
