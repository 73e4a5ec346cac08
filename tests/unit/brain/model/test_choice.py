import numpy as np

from pointsman.brain.model.choice import Choice, Hold


def test_scores_given_as_a_list_are_an_array_to_those_who_ask() -> None:
    assert Choice(0, [1.0, 2.0], "cost").scores.tolist() == [1.0, 2.0]
    assert Hold([1.0, 2.0], "full").scores.dtype == np.float64


def test_an_index_may_be_a_number_of_numpy() -> None:
    choice = Choice(np.array([2.0, 1.0]).argmin(), np.zeros(2), "cost", memo=7)
    assert (type(choice.index), choice.index, choice.memo) == (int, 1, 7)


def test_what_is_kept_does_not_change_with_the_fleet() -> None:
    column = np.zeros(3)
    own, part = Choice(0, column.copy(), "cost"), Choice(0, column[:2], "cost")
    kept = part.kept()
    column[0] = 9.0
    assert list(kept) == [0.0, 0.0]
    assert own.kept() is own.scores
