"""Agreement of orders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.sim.ranking import kendall_tau, top1_regret

ROWS = st.lists(st.floats(0.1, 1e3), min_size=2, max_size=10, unique=True)


@given(ROWS)
def test_the_same_order_is_one_and_the_opposite_minus_one(row: list[float]) -> None:
    assert kendall_tau(row, row) == pytest.approx(1.0)
    assert kendall_tau(row, [-value for value in row]) == pytest.approx(-1.0)


def test_one_exchange_of_neighbours_costs_two_pairs() -> None:
    assert kendall_tau([1, 2, 3, 4], [2, 1, 3, 4]) == pytest.approx(1 - 2 / 6)


def test_ties_are_neither_for_nor_against() -> None:
    """τ-b of the textbook: (C − D) / √((n₀ − n₁)(n₀ − n₂))."""
    assert kendall_tau([1, 2, 3], [1, 1, 2]) == pytest.approx(2 / (3 * 2) ** 0.5)
    assert kendall_tau([1.0, 1.01, 2.0], [1.01, 1.0, 2.0], tie=0.02) == pytest.approx(1.0)
    assert kendall_tau([1, 2, 3], [5, 5, 5]) is None


def test_regret_is_what_the_trusted_one_loses() -> None:
    assert top1_regret([10, 9, 5], [8, 10, 9], higher=True) == pytest.approx(0.2)
    assert top1_regret([1, 2, 3], [1.5, 1.0, 4.0], higher=False) == pytest.approx(0.5)
    assert top1_regret([10, 9, 5], [10, 9, 5], higher=True) == 0.0


def test_of_equals_the_one_that_does_worst_counts() -> None:
    assert top1_regret([10, 10, 5], [10, 8, 9], higher=True) == pytest.approx(0.2)
    assert top1_regret([0, 0], [0, 0], higher=False) == 0.0
