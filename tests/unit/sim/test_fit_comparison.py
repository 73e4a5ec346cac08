"""Groups of recorded requests beside simulated ones."""

import numpy as np
import pytest

from pointsman.engine.profile import EngineProfile, profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import Sample, run
from pointsman.sim.fit_comparison import Comparison, Constants, TooFew, constants
from pointsman.sim.timings import Timed

TRUE = np.array([1.0, 0.0, 0.0])


def profile(chosen: Constants) -> EngineProfile:
    return profile_of(
        EngineConfig(
            overhead_ms=chosen.overhead_ms,
            bandwidth_scale=chosen.bandwidth_scale,
            compute_scale=chosen.compute_scale,
        )
    )


def recorded(count: int) -> list[Timed]:
    """Requests of many sizes, one a second, and what the engine as it is takes for them."""
    asked = [(float(number), Sample(100 + 37 * number % 1900, 20)) for number in range(count)]
    served = run(profile(Constants()), asked)
    return [
        Timed(at, sample, sample.prompt_tokens, one.ttft, one.tpot)
        for (at, sample), one in zip(asked, served, strict=True)
    ]


def test_a_point_stands_for_constants() -> None:
    assert constants(TRUE) == Constants()
    assert constants(np.array([-1.0, np.log(2), np.log(0.5)])) == Constants(0.0, pytest.approx(2.0), pytest.approx(0.5))


def test_the_truth_differs_by_nothing() -> None:
    comparison = Comparison({"a": recorded(60)}, profile)
    assert np.abs(comparison.means(TRUE)).max() < 1e-9
    assert comparison.errors(TRUE, held_out=True)["tpot"].median_error < 1e-9


def test_slower_memory_shows_in_the_gaps_and_overhead_in_first_tokens() -> None:
    comparison = Comparison({"a": recorded(60)}, profile)
    half = comparison.groups // 2
    slow, late = comparison.means(np.array([1.0, -0.2, 0.0])), comparison.means(np.array([1.5, 0.0, 0.0]))
    assert slow[half:].min() > 0.1
    assert np.abs(late[half:]).max() < 0.01
    assert late[:half].min() > 0.03


def test_the_last_quarter_is_held_out() -> None:
    comparison = Comparison({"a": recorded(100)}, profile)
    fitted, held_out = (comparison.errors(TRUE, held_out=which)["ttft"].requests for which in (False, True))
    assert (fitted, held_out) == (65, 25)


def test_groups_that_agree_weigh_more() -> None:
    timed = recorded(80)
    noisy = [
        Timed(one.at_s, one.sample, one.fresh_tokens, (one.ttft_s or 0) * (1 + number % 2), one.tpot_s)
        for number, one in enumerate(timed)
    ]
    comparison = Comparison({"a": noisy}, profile)
    weights = comparison.weights(TRUE)
    half = comparison.groups // 2
    assert weights[:half].max() < weights[half:].min()
    assert weights.mean() == pytest.approx(1.0)


def test_too_few_are_refused() -> None:
    with pytest.raises(TooFew, match="too few"):
        Comparison({"a": recorded(8)}, profile)
    with pytest.raises(TooFew):
        Comparison({}, profile)
