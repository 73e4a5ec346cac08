"""Shares fall at once and rise slowly."""

from math import log

import pytest

from pointsman.brain.life.share import LEAST, Shares


def test_a_node_that_is_five_times_worse_gets_a_fifth_and_others_all() -> None:
    shares = Shares()
    shares.renew({0: log(5.0), 1: 0.0}, 0.1)
    assert (shares.of(0), shares.of(1)) == (pytest.approx(0.2), 1.0)
    assert shares.lowered == (0,)


def test_it_begins_above_three_and_lasts_to_one_and_a_half() -> None:
    shares = Shares()
    for worse, share in ((2.9, 1.0), (3.1, 1 / 3.1), (2.0, 1 / 2.0), (1.6, 1 / 1.6), (1.4, 1.0), (2.9, 1.0)):
        shares.renew({0: log(worse)}, 1.0)
        assert shares.of(0) == pytest.approx(share)


def test_it_rises_no_faster_than_allowed() -> None:
    shares = Shares()
    shares.renew({0: log(100.0)}, 0.25)
    seen = [shares.of(0)]
    for _ in range(4):
        shares.renew({}, 0.25)
        seen.append(shares.of(0))
    assert seen == pytest.approx([LEAST, 0.35, 0.6, 0.85, 1.0])
    assert not shares.lowered


def test_the_next_tenant_of_a_row_begins_in_full() -> None:
    shares = Shares()
    shares.renew({0: log(5.0)}, 0.1)
    shares.forget(0)
    assert shares.of(0) == 1.0
    shares.renew({0: log(2.0)}, 0.1)
    assert shares.of(0) == 1.0
