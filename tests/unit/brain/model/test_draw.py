"""Draws are pure, uniform and independent of order."""

from collections import Counter

from pointsman.brain.model.draw import again, below, draw, unit


def test_equal_arguments_give_equal_draws_and_others_differ() -> None:
    assert draw(1, 5) == draw(1, 5)
    assert len({draw(seed, sequence) for seed in range(30) for sequence in range(30)}) == 900


def test_below_is_uniform() -> None:
    counts = Counter(below(draw(0, sequence), 7) for sequence in range(7000))
    assert sorted(counts) == list(range(7))
    assert all(850 < count < 1150 for count in counts.values())


def test_derived_bits_are_independent_of_the_first() -> None:
    pairs = Counter((below(bits, 3), below(again(bits), 3)) for bits in (draw(9, s) for s in range(9000)))
    assert all(850 < count < 1150 for count in pairs.values())


def test_unit_lies_in_0_to_1() -> None:
    values = [unit(draw(3, sequence)) for sequence in range(1000)]
    assert 0.0 <= min(values) < 0.01
    assert 0.99 < max(values) < 1.0
