"""The published relations between the rules, at modest size."""

import pytest

from pointsman.brain.policies.registry import build
from pointsman.chains.bounds import capacity_rate
from pointsman.chains.model import Chain
from pointsman.chains.study import AtLoad, Conditions, study

RULES = ("fastest_free", "sa_jsq", "least_requests", "sed", "jiq")
LOADS = (0.1, 0.5, 0.7, 0.9)


@pytest.fixture(scope="module")
def studied(bloom_chains: tuple[Chain, ...]) -> dict[float, AtLoad]:
    rates = [load * capacity_rate(bloom_chains) for load in LOADS]
    found = study(bloom_chains, [build(name) for name in RULES], rates, Conditions(jobs=3000, seed=1, seeds=3))
    return dict(zip(LOADS, found, strict=True))


def mean(studied: dict[float, AtLoad], load: float, policy: str) -> float:
    return next(each.mean_s for each in studied[load].means if each.policy == policy)


@pytest.mark.parametrize("load", LOADS)
def test_fastest_free_lies_between_its_bounds(studied: dict[float, AtLoad], load: float) -> None:
    found, bounds = studied[load].means[0], studied[load].bounds
    assert bounds is not None
    assert found.half_width_s is not None
    assert found.mean_s + found.half_width_s >= bounds.lower_s
    assert found.mean_s - found.half_width_s <= bounds.upper_s


@pytest.mark.parametrize(("load", "gain"), [(0.1, 0.38), (0.5, 0.22), (0.7, 0.11)])
def test_fastest_free_beats_the_shortest_queue(studied: dict[float, AtLoad], load: float, gain: float) -> None:
    found = 1.0 - mean(studied, load, "fastest_free") / mean(studied, load, "least_requests")
    assert found == pytest.approx(gain, abs=0.04)


@pytest.mark.parametrize("load", LOADS[:-1])
def test_speed_aware_shortest_queue_is_as_good(studied: dict[float, AtLoad], load: float) -> None:
    assert mean(studied, load, "sa_jsq") == pytest.approx(mean(studied, load, "fastest_free"), rel=0.02)


def test_others_fall_behind_as_load_grows(studied: dict[float, AtLoad]) -> None:
    for load in LOADS[1:]:
        assert 1.06 < mean(studied, load, "sed") / mean(studied, load, "fastest_free") < 1.2
    assert mean(studied, 0.9, "jiq") > 1.5 * mean(studied, 0.9, "fastest_free")


def test_one_seed_has_no_interval_and_bounds_need_a_load_below_one(bloom_chains: tuple[Chain, ...]) -> None:
    most = capacity_rate(bloom_chains)
    ticks: list[int] = []
    found = study(bloom_chains, [build("sed")], [0.5 * most, 2.0 * most], Conditions(50, 1, 1), lambda: ticks.append(1))
    assert [each.means[0].half_width_s for each in found] == [None, None]
    assert found[1].bounds is None
    assert found[1].load == pytest.approx(2.0)
    assert len(ticks) == 2


def test_bounds_do_not_hold_where_jobs_slow_each_other(bloom_chains: tuple[Chain, ...]) -> None:
    (found,) = study(bloom_chains, [build("sed")], [0.1], Conditions(50, 1, 2, slowdown=0.5))
    assert found.bounds is None
    assert found.load > 0.1 / capacity_rate(bloom_chains)
