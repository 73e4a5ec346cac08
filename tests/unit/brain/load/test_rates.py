import numpy as np
import pytest

from pointsman.brain.load.rates import SHARE_EVERY, Rates
from pointsman.brain.load.regression import Triple

PRIOR: Triple = (0.02, 1e-4, 0.0)
SCALE: Triple = (0.02, 1e-4, 5e-9)


def make() -> tuple[Rates, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    out = (np.zeros(4), np.zeros(4), np.zeros(4))
    return Rates(out), out


def teach(rates: Rates, row: int, slowness: float, samples: int = 4 * SHARE_EVERY) -> None:
    for tokens in np.random.default_rng(row).uniform(100.0, 4000.0, samples):
        rates.observe(row, (1.0, float(tokens), 0.0), slowness * (0.02 + 1e-4 * float(tokens)))


def test_node_without_data_has_the_prior() -> None:
    rates, (base, per_token, per_pair) = make()
    rates.start(0, "H100", PRIOR, SCALE)
    assert (base[0], per_token[0], per_pair[0]) == pytest.approx(PRIOR)


def test_node_without_data_has_the_average_of_its_kind() -> None:
    rates, (_, per_token, _) = make()
    for row, kind in enumerate(("H100", "H100", "H100", "A100")):
        rates.start(row, kind, PRIOR, SCALE)
    teach(rates, 0, 1.2)
    teach(rates, 1, 0.8)
    assert per_token[2] == pytest.approx(1e-4, rel=0.03)
    teach(rates, 1, 1.2)
    assert per_token[2] == pytest.approx(1.2e-4, rel=0.05)
    assert per_token[3] == 1e-4


def test_later_node_starts_from_its_kind_and_unknown_hardware_is_one_kind() -> None:
    rates, (_, per_token, _) = make()
    rates.start(0, "H100", PRIOR, SCALE)
    rates.start(1, "", PRIOR, SCALE)
    teach(rates, 0, 2.0)
    teach(rates, 1, 3.0)
    rates.start(2, "H100", PRIOR, SCALE)
    rates.start(3, "", PRIOR, SCALE)
    assert per_token[2] == pytest.approx(2e-4, rel=0.05)
    assert per_token[3] == pytest.approx(3e-4, rel=0.05)


def test_nodes_never_tried_follow_the_first_samples_of_others() -> None:
    """Else a prior ten times too slow would keep them untried beside one that has shown its speed."""
    rates, (_, per_token, _) = make()
    rates.start(0, "", PRIOR, SCALE)
    rates.start(1, "", PRIOR, SCALE)
    rates.observe(0, (1.0, 10_000.0, 0.0), 0.1)
    assert per_token[1] == pytest.approx(per_token[0])
    assert per_token[1] < 0.5e-4


def test_departed_node_no_longer_counts() -> None:
    rates, (_, per_token, _) = make()
    rates.start(0, "H100", PRIOR, SCALE)
    teach(rates, 0, 5.0)
    rates.forget(0)
    rates.start(1, "H100", PRIOR, SCALE)
    assert per_token[1] == 1e-4
    with pytest.raises(KeyError):
        rates.observe(0, (1.0, 1.0, 0.0), 1.0)


def test_one_hiccup_raises_no_alarm() -> None:
    rates, (_, per_token, _) = make()
    rates.start(0, "", PRIOR, SCALE)
    teach(rates, 0, 1.0)
    assert rates.observe(0, (1.0, 1000.0, 0.0), 0.12 * 3.0) == pytest.approx(3.0, rel=0.02)
    teach(rates, 0, 1.0, samples=10)
    assert per_token[0] == pytest.approx(1e-4, rel=0.1)


def test_rescaled_rates_are_believed_and_learned_on_from_there() -> None:
    rates, (_, per_token, _) = make()
    rates.start(0, "", PRIOR, SCALE)
    teach(rates, 0, 5.0)
    rates.rescale(0, 0.2)
    assert per_token[0] == pytest.approx(1e-4, rel=0.1)
    teach(rates, 0, 1.0, samples=10)
    assert per_token[0] == pytest.approx(1e-4, rel=0.1)
    with pytest.raises(KeyError):
        rates.rescale(1, 2.0)
