import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.load.regression import RelativeRegression, Triple

PRIOR: Triple = (0.02, 1e-4, 0.0)
SCALE: Triple = (0.02, 1e-4, 5e-9)

sizes = st.floats(0.0, 1e6)
features = st.tuples(st.just(1.0), sizes, st.floats(0.0, 1e11))


def test_starts_at_the_prior() -> None:
    fit = RelativeRegression(PRIOR, SCALE)
    assert fit.rates == pytest.approx(PRIOR)
    assert fit.predict((1.0, 100.0, 0.0)) == pytest.approx(0.03)


@given(
    base=st.floats(0.005, 0.08),
    per_token=st.floats(3e-5, 3e-4),
    per_pair=st.floats(0.0, 2e-8),
    seed=st.integers(0, 1000),
)
def test_converges_to_a_known_linear_engine(base: float, per_token: float, per_pair: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    fit = RelativeRegression(PRIOR, SCALE)
    truth = np.array([base, per_token, per_pair])
    for _ in range(250):
        tokens = float(rng.lognormal(7.0, 1.2))
        fit.observe((1.0, tokens, tokens * tokens), float(truth @ (1.0, tokens, tokens * tokens)))
    for tokens in (200.0, 1000.0, 5000.0):
        assert fit.predict((1.0, tokens, tokens**2)) == pytest.approx(truth @ (1.0, tokens, tokens**2), rel=0.1)


@given(st.lists(st.tuples(features, st.floats(1e-9, 1e4)), max_size=60))
def test_never_negative_and_never_nan(samples: list[tuple[Triple, float]]) -> None:
    fit = RelativeRegression(PRIOR, SCALE)
    for x, seconds in samples:
        fit.observe(x, seconds)
        assert np.isfinite(fit.rates).all()
        assert min(fit.rates) >= 0.0


def test_what_traffic_does_not_excite_stays_at_the_prior() -> None:
    fit = RelativeRegression((0.02, 1e-4, 3e-9), SCALE)
    for _ in range(2000):
        fit.observe((1.0, 500.0, 0.0), 0.1)
    assert fit.rates[2] == pytest.approx(3e-9, rel=0.05)
    assert fit.predict((1.0, 500.0, 0.0)) == pytest.approx(0.1, rel=0.01)


def test_noise_is_answered_on_the_slow_side() -> None:
    rng = np.random.default_rng(1)
    fit = RelativeRegression(PRIOR, SCALE)
    predictions = []
    for _ in range(1500):
        tokens = float(rng.uniform(100.0, 4000.0))
        fit.observe((1.0, tokens, 0.0), (0.02 + 1e-4 * tokens) * float(rng.uniform(0.6, 1.4)))
        predictions.append(fit.predict((1.0, 2000.0, 0.0)) / 0.22)
    assert 1.02 < np.mean(predictions[100:]) < 1.25


def test_rescaled_past_predicts_the_same_multiple_and_keeps_learning() -> None:
    fit = RelativeRegression(PRIOR, SCALE)
    for tokens in (100.0, 1000.0, 5000.0) * 30:
        fit.observe((1.0, tokens, 0.0), 0.05 + 2e-4 * tokens)
    fit.rescale(3.0)
    assert fit.predict((1.0, 1000.0, 0.0)) == pytest.approx(0.75, rel=0.02)
    fit.observe((1.0, 1000.0, 0.0), 0.75)
    assert fit.predict((1.0, 5000.0, 0.0)) == pytest.approx(3.15, rel=0.1)
