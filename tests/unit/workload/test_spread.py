"""Spreading equal stamps keeps order and buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.workload.spread import spread_evenly


def test_a_quiet_spell_stays_quiet():
    assert spread_evenly([0, 0, 3, 3, 60, 60]) == pytest.approx([0, 1.5, 3, 4.5, 60, 61.5])


def test_one_stamp_has_no_width():
    assert spread_evenly([2.0, 2.0]) == [2.0, 2.0]


@given(st.lists(st.integers(0, 50).map(float), min_size=1, max_size=60).map(sorted))
def test_order_is_kept_and_nobody_leaves_the_bucket(stamps):
    spread = spread_evenly(stamps)
    assert spread == sorted(spread)
    later = {stamp: min((s for s in stamps if s > stamp), default=float("inf")) for stamp in stamps}
    assert all(stamp <= at < later[stamp] for stamp, at in zip(stamps, spread, strict=True))
