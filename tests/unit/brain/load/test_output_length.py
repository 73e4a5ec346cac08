import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.load.output_length import FIRST_GUESS, MOST_KEYS, OutputLength


def test_unknown_model_gets_the_first_guess_cut_by_max_tokens() -> None:
    lengths = OutputLength()
    assert lengths.expect("m", "t") == FIRST_GUESS
    assert lengths.expect("m", "t", 10) == 10.0


def test_tenant_is_learned_within_its_model() -> None:
    lengths = OutputLength()
    for _ in range(200):
        lengths.observe("m", "brief", 16)
        lengths.observe("m", "verbose", 2000)
    assert 14 < lengths.expect("m", "brief") < 40
    assert lengths.expect("m", "verbose") == pytest.approx(2000, rel=0.25)
    assert 500 < lengths.expect("m", "new") < 1500
    assert lengths.expect("other", "brief") == FIRST_GUESS


def test_cut_applies_to_each_length_not_to_their_mean() -> None:
    lengths = OutputLength()
    for _ in range(500):
        lengths.observe("m", "t", 10)
        lengths.observe("m", "t", 10_000)
    assert lengths.expect("m", "t", 1000) == pytest.approx(505, rel=0.15)


def test_follows_a_change() -> None:
    lengths = OutputLength()
    for tokens in [100] * 500 + [1000] * 1500:
        lengths.observe("m", "t", tokens)
    assert lengths.expect("m", "t") == pytest.approx(1000, rel=0.25)


def test_memory_is_bounded() -> None:
    lengths = OutputLength()
    for i in range(MOST_KEYS + 10):
        lengths.observe("m", f"t{i}", 1 << 17)
    assert len(lengths._groups) == MOST_KEYS
    assert lengths.expect("m", f"t{MOST_KEYS + 9}") > FIRST_GUESS


def test_a_kept_sum_follows_within_a_tenth_of_the_memory() -> None:
    lengths = OutputLength()
    for _ in range(400):
        lengths.observe("m", "t", 100)
    before = lengths.expect("m", "t", 5000)
    for _ in range(20):  # a tenth of the two hundred that it remembers
        lengths.observe("m", "t", 4000)
    assert lengths.expect("m", "t", 5000) > 2 * before


@given(st.lists(st.floats(-5, 1e7), max_size=50), st.integers(0, 10_000))
def test_never_beyond_max_tokens(answers: list[float], cut: int) -> None:
    lengths = OutputLength()
    for tokens in answers:
        lengths.observe("m", "t", tokens)
    assert 0.0 <= lengths.expect("m", "t", cut) <= cut + 1e-9


def test_a_quantile_is_what_that_share_of_the_answers_does_not_exceed() -> None:
    lengths = OutputLength()
    for _ in range(200):
        for tokens in [100] * 9 + [3000]:
            lengths.observe("m", "t", tokens)
    assert lengths.quantile("m", "t", 0.5) == pytest.approx(100, rel=0.4)
    assert lengths.quantile("m", "t", 0.97) == pytest.approx(3000, rel=0.4)
    assert lengths.quantile("m", "t", 0.97, 500) == 500
    assert lengths.quantile("m", "another", 0.97) == lengths.quantile("m", "", 0.97), "whoever is new is as his model"


def test_a_tenants_quantiles_are_his_own_once_he_has_answers_enough() -> None:
    lengths = OutputLength()
    for _ in range(15):
        lengths.observe("m", "brief", 16)
        lengths.observe("m", "verbose", 2000)
    assert lengths.quantile("m", "brief", 0.9) > 1000
    for _ in range(15):
        lengths.observe("m", "brief", 16)
    assert lengths.quantile("m", "brief", 0.9) < 32


def test_the_whole_is_max_tokens_and_an_unknown_length_is_taken_for_exponential() -> None:
    lengths = OutputLength()
    assert lengths.quantile("m", "", 1.0, 700) == 700
    assert lengths.quantile("m", "", 1 - 1 / 2.718281828) == pytest.approx(FIRST_GUESS)
    assert FIRST_GUESS < lengths.quantile("m", "", 1.0) < 20 * FIRST_GUESS, "finite where nobody states a limit"


def test_a_kept_quantile_follows_within_a_tenth_of_the_memory() -> None:
    lengths = OutputLength()
    for tokens in [100] * 400 + [4000] * 200:
        lengths.observe("m", "t", tokens)
        lengths.quantile("m", "t", 0.9)
    assert lengths.quantile("m", "t", 0.9) > 2000


@given(st.lists(st.floats(1, 2e5), min_size=20, max_size=60), st.floats(0.01, 1.0), st.floats(0.01, 1.0))
def test_quantiles_rise_with_their_share(answers: list[float], one: float, other: float) -> None:
    lengths = OutputLength()
    for tokens in answers:
        lengths.observe("m", "", tokens)
    low, high = sorted([one, other])
    assert 1.0 <= lengths.quantile("m", "", low) <= lengths.quantile("m", "", high) <= 2**18


def test_going_on_is_a_probability_that_falls_with_the_distance() -> None:
    lengths = OutputLength()
    for tokens in [100, 200, 400, 800, 1600] * 20:
        lengths.observe("m", "t", tokens)
    chances = lengths.going_on("m", "t", np.array([0.0, 300.0]), np.array([0.0, 50.0, 250.0, 800.0, 5000.0]))
    assert chances[:, 0] == pytest.approx([1.0, 1.0])
    assert (np.diff(chances, axis=1) <= 0).all()
    assert chances[0, 2] == pytest.approx(0.6, abs=0.07)
    assert chances[1, 3] == pytest.approx(1 / 3, abs=0.12), "of three fifths that were longer than 300, one fifth"
    assert chances[:, 4] == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("produced", [0.0, 100.0, 100_000.0])
def test_what_nobody_has_seen_is_expected_to_last_as_long_again(produced: float) -> None:
    lengths = OutputLength()
    known = produced + FIRST_GUESS
    chance = lengths.going_on("m", "t", np.array([produced]), np.array([known]))
    assert chance == pytest.approx(0.5)
    for _ in range(50):
        lengths.observe("m", "t", 20)
    learned = lengths.going_on("m", "t", np.array([produced]), np.array([known]))
    assert learned == pytest.approx(0.5 if produced else 0.0)
