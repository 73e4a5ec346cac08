"""Slowness stands out against a node's own past and its peers, and adapts to neither load nor mixed speeds."""

from math import log

import numpy as np
import pytest

from pointsman.brain.life.share import BEGIN
from pointsman.brain.load.slowness import LEARNED, STALE_SECONDS, Slowness, above_others
from pointsman.brain.model.view import Cells


@pytest.mark.parametrize("values", [[3.0, 1.0], [3.0, 1.0, 2.0], [1.0, 1.0, 5.0, 2.0], [4.0, 4.0, 4.0, 0.0, 9.0]])
def test_the_median_of_the_others(values: list[float]) -> None:
    expected = {i: each - float(np.median(values[:i] + values[i + 1 :])) for i, each in enumerate(values)}
    assert above_others(dict(enumerate(values))) == expected


class Fleet:
    """Nodes whose rates are learned as they are; `seconds[row]` is the time of a token."""

    def __init__(self, *seconds: float, kind: str = "") -> None:
        self.cells = Cells(8)
        self.slowness = Slowness(self.cells)
        self.seconds = list(seconds)
        self.now = 0.0
        for row, each in enumerate(seconds):
            self.cells.prefill_per_token[row] = self.cells.tpot_base[row] = each
            self.slowness.start(row, kind)

    def serve(self, times: int) -> None:
        for _ in range(times):
            self.now += 0.1
            for row, each in enumerate(self.seconds):
                self.slowness.first_token(row, 100.0, 0.0, 100.0 * each, self.now)
                self.slowness.tokens(row, 3.0, 100.0, each, self.now)

    def slower(self) -> dict[int, float]:
        self.slowness.refresh(self.now, 0.0)
        return self.slowness.slowness()


def test_mixed_speeds_are_no_slowness_and_a_change_is() -> None:
    fleet = Fleet(1.0, 10.0, 0.1)
    fleet.serve(2 * LEARNED)
    assert list(fleet.slower().values()) == pytest.approx([0.0] * 3, abs=1e-9)
    fleet.seconds[1] *= 5.0
    fleet.serve(6)
    assert fleet.slower()[1] > log(3.0)
    fleet.serve(20)
    assert fleet.slower()[1] == pytest.approx(log(5.0), abs=0.05)


def test_what_is_usual_does_not_follow_a_node_that_stays_slow() -> None:
    fleet = Fleet(1.0, 1.0, 1.0)
    fleet.serve(2 * LEARNED)
    fleet.seconds[0] = 5.0
    fleet.serve(2000)
    assert fleet.slower()[0] == pytest.approx(log(5.0), abs=0.1)


def test_a_fleet_that_slows_down_as_a_whole_has_no_outlier() -> None:
    fleet = Fleet(1.0, 10.0)
    fleet.serve(2 * LEARNED)
    fleet.seconds = [5.0, 50.0]
    fleet.serve(20)
    assert list(fleet.slower().values()) == pytest.approx([0.0] * 2, abs=0.02)


def test_a_node_of_a_declared_kind_is_held_against_its_kind_from_the_start() -> None:
    fleet = Fleet(1.0, 1.0, 4.0, kind="8B on H100")
    fleet.slower()
    fleet.serve(30)
    slower = fleet.slower()
    assert slower[2] == pytest.approx(log(4.0), abs=0.05)
    assert slower[0] < 0.0


def test_too_few_samples_and_no_peers_say_nothing() -> None:
    fleet = Fleet(1.0, 1.0)
    fleet.serve(2 * LEARNED - 1)
    assert not fleet.slower()
    alone = Fleet(1.0)
    alone.serve(200)
    assert not alone.slower()


def test_later_tokens_alone_count_too() -> None:
    fleet = Fleet(1.0, 1.0)
    fleet.serve(2 * LEARNED)
    for _ in range(30):
        fleet.slowness.tokens(0, 3.0, 100.0, 4.0, fleet.now)
    assert fleet.slower()[0] == pytest.approx(log(4.0), abs=0.05)


def test_without_samples_a_node_becomes_usual_again() -> None:
    fleet = Fleet(1.0, 1.0)
    fleet.serve(2 * LEARNED)
    fleet.seconds[0] = 5.0
    fleet.serve(30)
    fleet.slowness.refresh(fleet.now + STALE_SECONDS + 1.0, 3.0 * STALE_SECONDS)
    assert fleet.slowness.slowness()[0] < 0.1


def test_rates_learned_of_a_slow_node_are_forgiven_and_those_of_a_usual_one_kept() -> None:
    fleet = Fleet(1.0, 1.0)
    fleet.serve(2 * LEARNED)
    fleet.cells.prefill_per_token[0] = fleet.cells.tpot_base[0] = 5.0
    assert not list(fleet.slowness.forgiven(fleet.now, 1.0))
    ((row, prefill, tpot),) = fleet.slowness.forgiven(fleet.now + STALE_SECONDS + 1.0, 30.0)
    assert row == 0
    assert prefill == pytest.approx(tpot)
    assert prefill == pytest.approx(5.0 ** -(1.0 - np.exp(-1.0)))


def test_one_hiccup_is_no_change() -> None:
    fleet = Fleet(1.0, 1.0)
    fleet.serve(2 * LEARNED)
    fleet.slowness.first_token(0, 100.0, 0.0, 1e9, fleet.now)
    assert fleet.slower()[0] < log(3.0)


def test_a_step_more_of_the_engine_is_no_slowness_of_a_quick_node() -> None:
    fleet = Fleet(5e-4, 5e-4)
    fleet.serve(3 * LEARNED)
    fleet.seconds[0] *= 6.0  # first tokens after 0.3 s instead of 0.05 s
    fleet.serve(20)
    assert fleet.slower()[0] < log(3.0)


def busy_seconds(running: float) -> float:
    """An engine's step: twice as long with 20 sequences more."""
    return 0.02 + 0.001 * running


def of_batches(*batches: float, learned_per_sequence: float) -> Slowness:
    """Healthy nodes that learned on small batches, as far as that can be learned, and now run `batches`."""
    cells = Cells(8)
    slowness = Slowness(cells)
    for row in range(len(batches)):
        cells.tpot_base[row], cells.tpot_per_sequence[row] = 0.02, learned_per_sequence
        slowness.start(row, "")
        for _ in range(2 * LEARNED):
            slowness.tokens(row, 2.0, 2000.0, busy_seconds(2.0), 0.0)
    for _ in range(20):
        for row, batch in enumerate(batches):
            slowness.tokens(row, batch, 1000.0 * batch, busy_seconds(batch), 0.0)
    return slowness


@pytest.mark.parametrize("learned_per_sequence", [0.0, 0.001, 0.01])
def test_no_healthy_node_is_slow_where_one_has_larger_batches_than_it_was_known_by(learned_per_sequence: float) -> None:
    slower = of_batches(60.0, 2.0, learned_per_sequence=learned_per_sequence).slowness()
    assert max(slower.values()) < BEGIN


def test_a_yardstick_that_was_outgrown_is_learned_anew() -> None:
    """As known by small batches, a batch of 60 may take from 0.04 to 0.6 s: that would hide any slowness."""
    slowness = of_batches(60.0, 60.0, learned_per_sequence=0.01)
    slowness._rest[1][0] = slowness._rest[1][1] = 0.001  # what is learned of them by and by
    for _ in range(3 * LEARNED):
        for row in range(2):
            slowness.tokens(row, 60.0, 60_000.0, busy_seconds(60.0), 0.0)
    assert slowness.slowness() == pytest.approx({0: 0.0, 1: 0.0})
    for _ in range(20):
        slowness.tokens(0, 60.0, 60_000.0, 4.0 * busy_seconds(60.0), 0.0)
    assert slowness.slowness()[0] == pytest.approx(log(4.0), abs=0.2)
