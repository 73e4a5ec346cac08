"""Token counts: median of the body, weight of the tail, limits."""

import numpy as np
import pytest

from pointsman.workload.lengths import Lengths


def drawn(lengths, size=20_000):
    return lengths.draw(np.random.default_rng(2), size)


def test_the_median_is_the_median():
    assert np.median(drawn(Lengths(median=500, sigma=0.7))) == pytest.approx(500, rel=0.03)


def test_the_tail_is_heavier_than_the_body():
    body, tailed = drawn(Lengths(median=500)), drawn(Lengths(median=500, tail_share=0.05, tail_index=1.5))
    assert np.quantile(tailed, 0.999) > 2 * np.quantile(body, 0.999)
    assert np.median(tailed) == pytest.approx(np.median(body), rel=0.05)


def test_limits_hold():
    tokens = drawn(Lengths(median=500, sigma=2, tail_share=0.2, least=50, most=900))
    assert tokens.min() == 50
    assert tokens.max() == 900


def test_what_was_measured_is_drawn_between_its_quantiles():
    tokens = drawn(Lengths(quantiles=(10, 100, 5000)))
    assert tokens.min() >= 10
    assert tokens.max() <= 5000
    assert (tokens <= 100).mean() == pytest.approx(0.5, abs=0.02)
    assert np.quantile(tokens, [0.25, 0.75]) == pytest.approx([55, 2550], rel=0.05)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "either a `median` or `quantiles`"),
        ({"median": 3.0, "quantiles": (1.0, 2.0)}, "either a `median` or `quantiles`"),
        ({"quantiles": (5.0,)}, "two or more, and ascend"),
        ({"quantiles": (5.0, 4.0)}, "two or more, and ascend"),
        ({"median": 3.0, "least": 9, "most": 8}, "no length is between 9 and 8"),
    ],
)
def test_lengths_that_cannot_be_are_refused(wrong: dict[str, object], said: str):
    with pytest.raises(ValueError, match=said):
        Lengths(**wrong)
