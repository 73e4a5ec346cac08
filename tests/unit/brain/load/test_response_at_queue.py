import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.load.response_at_queue import EDGES, ResponseAtQueue, nearest


def make(rows: int = 1) -> tuple[ResponseAtQueue, np.ndarray]:
    out = np.zeros(rows)
    typical = ResponseAtQueue(out, np.full(rows, 0.7))
    for row in range(rows):
        typical.start(row)
    return typical, out


def at(typical: ResponseAtQueue, out: np.ndarray, queue: float) -> float:
    typical.refresh(np.array([queue]))
    return float(out[0])


def test_unknown_nodes_stand_where_their_other_figure_does() -> None:
    typical, out = make()
    assert out[0] == 0.7
    assert at(typical, out, 5.0) == 0.7


def test_a_longer_queue_has_its_own_typical_response() -> None:
    typical, out = make()
    for _ in range(30):
        typical.observe(0, 0, 0.1)
        typical.observe(0, 20, 2.0)
    assert at(typical, out, 0.0) == pytest.approx(0.1)
    assert at(typical, out, 20.0) == pytest.approx(2.0)
    assert at(typical, out, 17.0) == pytest.approx(2.0)


def test_queues_never_seen_speak_by_the_nearest_seen() -> None:
    typical, out = make()
    typical.observe(0, 1, 0.2)
    assert at(typical, out, 0.0) == at(typical, out, 1000.0) == 0.2
    typical.observe(0, 100, 3.0)
    assert at(typical, out, 2.0) == 0.2
    assert at(typical, out, 80.0) == 3.0
    typical.observe(0, 10, 1.0)
    assert [at(typical, out, queue) for queue in (1.0, 10.0, 13.0, 100.0)] == [0.2, 1.0, 1.0, 3.0]


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1.5))
def test_it_wanders_about_the_median_of_skewed_samples(seed: int, spread: float) -> None:
    typical, out = make()
    medians = []
    for seconds in np.random.default_rng(seed).lognormal(0.0, spread, 400):
        typical.observe(0, 3, float(seconds))
        medians.append(at(typical, out, 3.0))
    assert abs(np.log(medians[200:]).mean()) < 0.5 * spread + 0.1


def test_one_outlier_hardly_moves_it_and_a_change_of_the_node_does() -> None:
    typical, out = make()
    for _ in range(50):
        typical.observe(0, 3, 1.0)
    typical.observe(0, 3, 500.0)
    assert at(typical, out, 3.0) == pytest.approx(1.05)
    for _ in range(30):
        typical.observe(0, 3, 4.0)
    assert at(typical, out, 3.0) == pytest.approx(4.0)


def test_a_new_node_on_the_row_knows_nothing() -> None:
    typical, out = make(2)
    typical.observe(0, 3, 1.0)
    typical.observe(1, 3, 2.0)
    typical.start(0)
    typical.refresh(np.array([3.0, 3.0]))
    assert out.tolist() == [0.7, 2.0]


@given(st.sets(st.integers(0, len(EDGES)), min_size=1))
def test_every_bucket_speaks_by_the_nearest_seen_and_by_the_lower_of_two(seen: set[int]) -> None:
    for bucket, near in enumerate(nearest(sorted(seen))):
        assert min(abs(each - bucket) for each in seen) == abs(near - bucket)
        assert near <= bucket or 2 * bucket - near not in seen
