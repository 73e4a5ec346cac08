"""Histograms as the exposition wants them."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.api.metrics import Tally


@given(values=st.lists(st.floats(0, 10)))
def test_buckets_count_what_is_at_most_their_bound(values: list[float]) -> None:
    tally = Tally((0.5, 1, 5))
    for value in values:
        tally.observe(value)
    expected = [sum(value <= bound for value in values) for bound in (0.5, 1, 5)]
    assert [count for _, count in tally.cumulative()] == [*expected, len(values)]
    assert [bound for bound, _ in tally.cumulative()] == ["0.5", "1.0", "5.0", "+Inf"]
    assert tally.total == sum(values)


def test_clearing_forgets() -> None:
    tally = Tally((1.0,))
    tally.observe(0.5)
    tally.clear()
    assert tally.cumulative() == [("1.0", 0.0), ("+Inf", 0.0)]
    assert tally.total == 0.0
