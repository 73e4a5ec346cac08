import numpy as np
import pytest

from pointsman.brain.bounds import Bounds


def alone() -> Bounds:
    bounds = Bounds(4)
    bounds.set_cap(0, 8.0)
    bounds.set_cap(1, 2.5)
    return bounds


def test_alone_the_bound_is_the_cap() -> None:
    assert alone().bound.tolist() == [8.0, 2.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("elsewhere", "ours", "bound"),
    [
        (0, 0, 2.0),  # a quarter of 8
        (4, 0, 5.0),  # a quarter of the 4 left
        (4, 3, 8.0),  # of 1 left, at least 1
        (6, 2, 8.0),  # none left
        (9, 0, 8.0),  # others above the cap, which has fallen
    ],
)
def test_each_of_four_may_take_its_share_of_the_room(elsewhere: int, ours: int, bound: float) -> None:
    bounds = alone()
    bounds.hear(0, elsewhere, ours)
    bounds.renew(4, [0.0, 0.0])
    assert bounds.bound[0] == bound


def test_a_cap_that_moves_moves_the_bound() -> None:
    bounds = alone()
    bounds.renew(2, [0.0, 0.0])
    assert bounds.bound.tolist()[:2] == [4.0, 1.0]
    bounds.set_cap(0, 20.0)
    assert bounds.bound[0] == 10.0


def test_room_that_one_told_to_be_free_is_no_longer_ones_own() -> None:
    bounds = alone()
    bounds.hear(0, 0, 8)
    bounds.renew(2, [0.0, 0.0])
    bounds.told(np.array([2.0, 0.0]))
    assert bounds.bound[0] == 2 + 3


def test_telling_more_than_was_known_gives_no_new_room() -> None:
    bounds = alone()
    bounds.renew(2, [0.0, 0.0])
    bounds.told(np.array([4.0, 0.0]))
    assert bounds.bound[0] == 4.0


def test_who_holds_more_than_an_equal_part_leaves_room_to_those_who_wait() -> None:
    bounds = alone()
    bounds.hear(0, 0, 8)
    bounds.renew(2, [1.0, 0.0])
    assert bounds.bound[0] == 4.0
    bounds.renew(2, [0.0, 0.0])
    assert bounds.bound[0] == 8.0


def test_a_trial_is_ones_own_whatever_others_have_there() -> None:
    bounds = alone()
    bounds.hear(0, 13, 0)
    bounds.renew(2, [1.0, 0.0])
    bounds.set_cap(0, 1.0, on_trial=True)
    assert bounds.bound[0] == 14.0
    bounds.set_cap(0, 8.0)
    assert bounds.bound[0] == 8.0


def test_a_row_that_is_used_again_knows_nothing() -> None:
    bounds = alone()
    bounds.hear(0, 5, 0)
    bounds.renew(2, [3.0, 0.0])
    bounds.clear(0)
    bounds.set_cap(0, 4.0)
    assert bounds.bound[0] == 2.0


def test_the_last_one_left_has_all() -> None:
    bounds = alone()
    bounds.renew(2, [0.0, 0.0])
    bounds.renew(1, [0.0, 0.0])
    assert bounds.bound.tolist()[:2] == [8.0, 2.5]
