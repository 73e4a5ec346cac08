"""Constants that timings were made with are found again."""

import pytest

from pointsman.engine.profile import EngineProfile, profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import Sample, run
from pointsman.sim.fit import fit
from pointsman.sim.fit_comparison import Constants
from pointsman.sim.timings import Timed
from pointsman.workload.streams import stream

TRUE = Constants(overhead_ms=32.0, bandwidth_scale=0.8, compute_scale=1.25)


def profile(chosen: Constants) -> EngineProfile:
    return profile_of(
        EngineConfig(
            overhead_ms=chosen.overhead_ms,
            bandwidth_scale=chosen.bandwidth_scale,
            compute_scale=chosen.compute_scale,
        )
    )


def recorded(count: int, rate: float) -> list[Timed]:
    """What an engine with the true constants takes for requests that come at random."""
    draws = stream(1, "fit")
    moments = draws.exponential(1 / rate, count).cumsum()
    sizes = draws.integers(50, 3000, count)
    asked = [(float(at), Sample(int(size), 30)) for at, size in zip(moments, sizes, strict=True)]
    served = run(profile(TRUE), asked)
    return [
        Timed(at, sample, sample.prompt_tokens, one.ttft, one.tpot)
        for (at, sample), one in zip(asked, served, strict=True)
    ]


def test_known_constants_are_found_within_five_per_cent() -> None:
    rounds: list[None] = []
    found = fit({"a": recorded(150, 3.0), "b": recorded(100, 2.0)}, profile, lambda: rounds.append(None))
    assert found.constants.overhead_ms == pytest.approx(TRUE.overhead_ms, rel=0.05)
    assert found.constants.bandwidth_scale == pytest.approx(TRUE.bandwidth_scale, rel=0.05)
    assert found.constants.compute_scale == pytest.approx(TRUE.compute_scale, rel=0.05)
    assert found.held_out["tpot"].median_error < 0.02
    assert len(rounds) > 3


def test_what_nothing_tells_is_known_to_be_unknown() -> None:
    """Prompts of one size hide how much of first tokens is overhead, and how much arithmetic."""
    asked = [(2.0 * number, Sample(16, 30)) for number in range(60)]
    served = run(profile(TRUE), asked)
    timed = [
        Timed(at, sample, 16, one.ttft * (1 + number % 3 / 20), one.tpot)
        for number, ((at, sample), one) in enumerate(zip(asked, served, strict=True))
    ]
    found = fit({"a": timed}, profile, lambda: None)
    assert found.uncertain.compute_scale > 0.1
    assert found.constants.bandwidth_scale == pytest.approx(TRUE.bandwidth_scale, rel=0.05)
