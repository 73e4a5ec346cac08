import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.observe.histogram import Histogram


def test_a_bound_belongs_to_its_bucket_and_the_rest_to_infinity() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        histogram.observe(value)
    assert histogram.cumulative() == [("1", 2.0), ("2", 4.0), ("+Inf", 5.0)]
    assert histogram.total == 104.0


@given(st.lists(st.floats(0, 100), max_size=50))
def test_buckets_rise_and_end_with_all(values: list[float]) -> None:
    histogram = Histogram((0.1, 1.0, 10.0))
    for value in values:
        histogram.observe(value)
    counts = [count for _, count in histogram.cumulative()]
    assert counts == sorted(counts)
    assert counts[-1] == len(values)
    assert histogram.total == pytest.approx(sum(values))
