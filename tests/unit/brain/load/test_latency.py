import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.load.latency import NO_FEEDBACK, LatencyModel
from pointsman.brain.load.priors import PrefillPrior, TpotPrior
from pointsman.brain.model.view import COLUMNS, Cells, Columns


def make() -> tuple[LatencyModel, Columns]:
    cells = Cells(2)
    model = LatencyModel(cells)
    model.prior(0, PrefillPrior(), TpotPrior(), "H100")
    return model, cells.columns()


def prefill(columns: Columns, backlog: float, miss: float, overlap: float) -> float:
    pairs = miss * (overlap + 0.5 * miss)
    return float(
        columns.prefill_base[0] + columns.prefill_per_token[0] * (miss + backlog) + columns.prefill_per_pair[0] * pairs
    )


def work(backlog: float, miss: float, overlap: float) -> tuple[float, float]:
    """Tokens, and pairs of tokens, computed until the first token."""
    return backlog + miss, miss * (overlap + 0.5 * miss)


def engine(backlog: float, miss: float, overlap: float, slowness: float = 1.0) -> float:
    return slowness * (0.015 + (miss + backlog) / 14_000 + 2e-9 * miss * (overlap + 0.5 * miss))


def traffic(seed: int, samples: int) -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(seed)
    return [
        (float(rng.choice([0.0, rng.uniform(0.0, 8000.0)])), float(rng.lognormal(7.0, 1.2)), float(rng.lognormal(7, 1)))
        for _ in range(samples)
    ]


def test_prior_is_written_and_doubted() -> None:
    _, columns = make()
    assert prefill(columns, 0.0, 8000.0, 0.0) == pytest.approx(1.02)
    assert columns.tpot_base[0] + 10 * columns.tpot_per_sequence[0] == pytest.approx(0.021)
    assert columns.prediction_error[0] == NO_FEEDBACK


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_learns_a_known_engine_and_trusts_it(seed: int) -> None:
    model, columns = make()
    for case in traffic(seed, 60):
        model.observe_prefill(0, *work(*case), engine(*case))
    for case in ((0.0, 1000.0, 0.0), (2000.0, 500.0, 3000.0), (0.0, 6000.0, 0.0)):
        assert prefill(columns, *case) == pytest.approx(engine(*case), rel=0.1)
    assert columns.prediction_error[0] < 0.1


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_follows_a_fourfold_slowdown_within_ten_samples(seed: int) -> None:
    model, columns = make()
    cases = traffic(seed, 110)
    for case in cases[:100]:
        model.observe_prefill(0, *work(*case), engine(*case))
    for case in cases[100:]:
        model.observe_prefill(0, *work(*case), engine(*case, slowness=4.0))
    ratios = [prefill(columns, *case) / engine(*case, slowness=4.0) for case in cases]
    assert 0.65 < np.median(ratios) < 1.5


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_learns_the_pace_of_decoding(seed: int) -> None:
    model, columns = make()
    rng = np.random.default_rng(seed)
    for _ in range(100):
        running = float(rng.integers(1, 128))
        context = running * float(rng.uniform(200.0, 3000.0))
        model.observe_tpot(0, running, context, 0.013 + 4e-5 * running + 8e-8 * context)
    tpot = columns.tpot_base[0] + 64 * columns.tpot_per_sequence[0] + 64_000 * columns.tpot_per_context[0]
    assert tpot == pytest.approx(0.013 + 4e-5 * 64 + 8e-8 * 64_000, rel=0.05)


@given(
    st.lists(
        st.tuples(*(st.floats(0.0, 1e6) for _ in range(3)), st.floats(-1.0, 1e5)),
        max_size=60,
    )
)
def test_columns_stay_finite_and_never_negative(samples: list[tuple[float, float, float, float]]) -> None:
    model, columns = make()
    for backlog, miss, overlap, seconds in samples:
        model.observe_prefill(0, *work(backlog, miss, overlap), seconds)
        model.observe_tpot(0, backlog, miss, seconds)
    for name in COLUMNS:
        column = getattr(columns, name)
        assert np.isfinite(column).all()
        assert (column >= 0.0).all()


def test_row_used_again_starts_anew() -> None:
    model, columns = make()
    for case in traffic(0, 30):
        model.observe_prefill(0, *work(*case), engine(*case, slowness=9.0))
    model.forget(0)
    with pytest.raises(KeyError):
        model.observe_prefill(0, 1.0, 0.5, 1.0)
    model.prior(0, PrefillPrior(), TpotPrior(), "H100")
    assert prefill(columns, 0.0, 8000.0, 0.0) == pytest.approx(1.02)


def test_both_kinds_of_rates_are_rescaled() -> None:
    model, columns = make()
    before = prefill(columns, 0.0, 8000.0, 0.0), float(columns.tpot_base[0])
    model.rescale(0, 3.0, 2.0)
    assert prefill(columns, 0.0, 8000.0, 0.0) == pytest.approx(3.0 * before[0])
    assert columns.tpot_base[0] == pytest.approx(2.0 * before[1])


def test_news_that_come_late_are_learned_as_such_and_not_as_slow_work() -> None:
    model, columns = make()
    for case in traffic(0, 100):
        model.observe_prefill(0, *work(*case), 1.0 + engine(*case))
    assert columns.prefill_base[0] == pytest.approx(1.015, abs=0.05)
    assert columns.prefill_per_token[0] == pytest.approx(1 / 14_000, rel=0.1)
