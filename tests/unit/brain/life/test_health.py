"""The health table and the evidence that moves nodes through it."""

import pytest

from pointsman.brain.life.health import MOVES, Event, Health
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.settings import BrainSettings

SETTINGS = BrainSettings(ejection_s=10, ejection_cap_s=25, slow_start_s=30)


@pytest.fixture
def health() -> Health:
    health = Health(SETTINGS)
    health.add(0, 7, 0.0)
    return health


def up(health: Health, now: float = 0.0) -> None:
    assert health.on(0, Event.ADMITTED, now)


def trip(health: Health, now: float) -> None:
    event = None
    while event is None:
        event = health.served(0, False)
    health.on(0, event, now)


def test_a_new_node_is_admitted_by_its_first_good_probe(health: Health) -> None:
    assert health.probed(0, True, 0.0) is Event.ADMITTED
    up(health)
    assert health.records[0].state is NodeState.UP


def test_three_failures_in_a_row_trip(health: Health) -> None:
    up(health)
    assert [health.served(0, False) for _ in range(3)] == [None, None, Event.TRIPPED]


def test_a_bad_share_of_recent_requests_trips(health: Health) -> None:
    up(health)
    events = [health.served(0, well) for well in (True, True, True, False, False, True, False, False)]
    assert events[-1] is Event.TRIPPED
    assert not any(events[:-1])


def test_time_out_grows_with_each_trip_up_to_a_cap_and_never_shrinks(health: Health) -> None:
    now, spans = 0.0, []
    up(health)
    for _ in range(4):
        trip(health, now)
        spans.append(health.records[0].out_until - now)
        now = health.records[0].out_until
        assert health.probed(0, True, now - 0.1) is None
        health.on(0, Event.RETURNABLE, now)
        health.on(0, Event.SERVED, now)
    for due, span in zip([10, 20, 30, 40], spans, strict=True):
        assert min(25, 0.8 * due) - 1e-9 <= span <= min(25, 1.2 * due) + 1e-9


def test_times_out_are_drawn_and_can_be_drawn_again() -> None:
    def spans(seed: int) -> list[float]:
        health = Health(BrainSettings(seed=seed))
        for row in range(50):
            health.add(row, 1000 + row, 0.0)
            health.on(row, Event.TRIPPED, 0.0)
        return [health.records[row].out_until for row in range(50)]

    drawn = spans(0)
    assert drawn == spans(0)
    assert drawn != spans(1)
    assert 8.0 <= min(drawn) < 8.5
    assert 11.5 < max(drawn) <= 12.0


def test_the_first_token_of_the_trial_lets_the_node_up(health: Health) -> None:
    assert health.first_token(0) is None
    up(health)
    assert health.first_token(0) is None
    trip(health, 0.0)
    health.on(0, Event.RETURNABLE, 15.0)
    assert health.first_token(0) is Event.SERVED


def test_two_late_probes_make_suspect_and_one_in_time_clears_it(health: Health) -> None:
    up(health)
    assert health.probed(0, True, 0.0, late=True) is None
    assert health.probed(0, True, 0.0, late=True) is Event.PROBED_LATE
    health.on(0, Event.PROBED_LATE, 0.0)
    assert health.records[0].state is NodeState.SUSPECT
    event = health.probed(0, True, 2.0, late=True)
    assert event is not None
    assert not health.on(0, event, 2.0)
    assert health.probed(0, True, 4.0) is Event.PROBED_WELL


def test_a_probe_that_failed_and_was_late_is_two_bad_signs_for_a_node_that_is_up(health: Health) -> None:
    up(health)
    assert health.probed(0, False, 0.0, late=True) is Event.PROBED_LATE
    health.on(0, Event.PROBED_LATE, 0.0)
    assert health.probed(0, False, 1.0, late=True) is None
    assert health.probed(0, False, 2.0, late=True) is Event.PROBED_BADLY


def test_doubt_begins_with_the_first_bad_sign_and_ends_with_a_good_one(health: Health) -> None:
    assert health.in_doubt(0)
    up(health)
    assert not health.in_doubt(0)
    for bad, good in (
        (lambda: health.probed(0, False, 0.0), lambda: health.probed(0, True, 0.0)),
        (lambda: health.probed(0, True, 0.0, late=True), lambda: health.probed(0, True, 0.0)),
        (lambda: health.served(0, False), lambda: health.served(0, True)),
    ):
        bad()
        assert health.in_doubt(0)
        good()
        assert not health.in_doubt(0)


def test_a_node_that_is_down_may_fill_the_least(health: Health) -> None:
    up(health)
    trip(health, 0.0)
    assert health.ramp(0, 5.0) == pytest.approx(0.1)


def test_return_is_by_one_real_request(health: Health) -> None:
    up(health)
    trip(health, 0.0)
    assert health.probed(0, True, 11.0) is Event.RETURNABLE
    health.on(0, Event.RETURNABLE, 11.0)
    assert health.on_trial(0)
    assert health.probed(0, True, 12.0) is None
    assert health.served(0, True) is Event.SERVED


def test_a_failed_trial_is_a_trip_at_once(health: Health) -> None:
    up(health)
    trip(health, 0.0)
    health.on(0, Event.RETURNABLE, 11.0)
    assert health.served(0, False) is Event.TRIPPED


def test_a_returned_node_ramps(health: Health) -> None:
    up(health, 0.0)
    assert health.ramp(0, 0.0) == 1.0
    trip(health, 0.0)
    health.on(0, Event.RETURNABLE, 11.0)
    health.on(0, Event.SERVED, 20.0)
    assert health.ramp(0, 20.0) == pytest.approx(0.1)
    assert health.ramp(0, 35.0) == pytest.approx(0.55)
    assert health.ramp(0, 50.0) == 1.0


def test_two_failed_probes_make_suspect_two_more_down(health: Health) -> None:
    up(health)
    states = []
    for _ in range(4):
        event = health.probed(0, False, 0.0)
        if event:
            health.on(0, event, 0.0)
        states.append(health.records[0].state)
    assert states == [NodeState.UP, NodeState.SUSPECT, NodeState.SUSPECT, NodeState.DOWN]


def test_one_good_probe_clears_suspicion(health: Health) -> None:
    up(health)
    health.on(0, Event.PROBED_BADLY, 0.0)
    event = health.probed(0, True, 1.0)
    assert event is Event.PROBED_WELL
    assert health.on(0, event, 1.0)
    assert health.records[0].state is NodeState.UP


def test_an_event_the_table_does_not_name_changes_nothing(health: Health) -> None:
    assert not health.on(0, Event.RETURNABLE, 0.0)
    assert health.records[0].state is NodeState.JOINING


def test_nothing_leaves_gone_and_everything_can_be_removed() -> None:
    assert not [move for move in MOVES if move[0] is NodeState.GONE]
    for state in NodeState:
        assert (state is NodeState.GONE) or MOVES[(state, Event.REMOVED)] is NodeState.GONE


def test_time_up_forgives_trips(health: Health) -> None:
    up(health)
    for now in (0.0, 100.0):
        trip(health, now)
        health.on(0, Event.RETURNABLE, now + 30.0)
        health.on(0, Event.SERVED, now + 30.0)
    trip(health, 130.0 + 2 * SETTINGS.ejection_cap_s)
    assert health.records[0].trips == 1


def test_a_drained_node_ramps_when_it_is_back(health: Health) -> None:
    health.probed(0, True, 0.0)
    up(health)
    health.on(0, Event.DRAINED, 5.0)
    health.on(0, health.undrained(0), 10.0)
    assert health.records[0].state is NodeState.UP
    assert health.ramp(0, 10.0) == pytest.approx(0.1)
    assert health.ramp(0, 40.0) == 1.0


def test_a_node_drained_while_it_was_down_comes_back_on_trial(health: Health) -> None:
    up(health)
    trip(health, 0.0)
    health.probed(0, False, 1.0)
    health.on(0, Event.DRAINED, 2.0)
    health.on(0, health.undrained(0), 3.0)
    assert health.on_trial(0)


def test_failures_before_a_drain_are_forgotten_after_it(health: Health) -> None:
    health.probed(0, True, 0.0)
    up(health)
    for _ in range(2):
        health.served(0, False)
    health.on(0, Event.DRAINED, 5.0)
    health.on(0, health.undrained(0), 10.0)
    assert health.served(0, False) is None


def test_a_suspect_that_recovers_does_not_ramp(health: Health) -> None:
    up(health)
    health.on(0, Event.PROBED_BADLY, 0.0)
    health.on(0, Event.PROBED_WELL, 1.0)
    assert health.ramp(0, 1.0) == 1.0
