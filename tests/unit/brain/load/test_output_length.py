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
