"""A comparison made again under conditions, on runs that nobody makes."""

from collections.abc import Sequence

import pytest
from tests.support.measured import measured

from pointsman.config.sim import SimConfig
from pointsman.sim.disturbed import Disturbance
from pointsman.sim.ranking import LEAST_POLICIES
from pointsman.simulate.cases import Case, Measured
from pointsman.simulate.robustness import CONDITIONS, FIGURES, Held, agreement, robustness
from pointsman.simulate.standing import GOODPUT, TTFT_MEAN, PolicyRuns

CONFIG = SimConfig(seeds=2, rate=5.0, report_delay_s=0.5)
NAMES = tuple(f"policy_{number}" for number in range(LEAST_POLICIES))


def answer(case: Case) -> Measured:
    """The higher its number, the better a policy is; but the best one cannot bear slow steps."""
    place = NAMES.index(case.policy)
    bad = case.engines.step > 1 and place == LEAST_POLICIES - 1
    return measured(case.policy, case.config.seed, goodput_rps=0.5 if bad else 1.0 + place, ttft_mean_s=10.0 - place)


@pytest.fixture
def asked() -> list[Case]:
    return []


@pytest.fixture
def held(asked: list[Case]) -> list[Held]:
    def measure(cases: Sequence[Case]) -> list[Measured]:
        asked.extend(cases)
        return [answer(case) for case in cases]

    return robustness(base(NAMES), CONFIG, measure)


def base(names: Sequence[str]) -> list[PolicyRuns]:
    runs = (tuple(answer(Case(SimConfig(seed=seed), name)) for seed in (1, 2)) for name in names)
    return [PolicyRuns(name, each) for name, each in zip(names, runs, strict=True)]


def test_every_policy_runs_under_every_condition_on_every_seed(asked: list[Case], held: list[Held]) -> None:
    assert len(asked) == len(CONDITIONS) * len(NAMES) * CONFIG.seeds
    assert {case.engines for case in asked} == {condition.engines for condition in CONDITIONS}
    assert {case.config.report_delay_s for case in asked} == {0.5, 0.6, 1.5}
    assert all(case.config.rate == 5.0 for case in asked)
    assert [one.condition for one in held] == list(CONDITIONS)


def test_agreement_and_what_trusting_the_best_costs(held: list[Held]) -> None:
    slow = next(one for one in held if one.condition.engines == Disturbance(step=1.2))
    goodput = slow.agreements[FIGURES.index(GOODPUT)]
    assert goodput.best == (NAMES[-2],)
    assert goodput.regret == pytest.approx((7.0 - 0.5) / 7.0)
    assert goodput.tau == pytest.approx(1 - 2 * 7 / 28)
    assert not goodput.kept
    latency = slow.agreements[FIGURES.index(TTFT_MEAN)]
    assert (latency.tau, latency.regret, latency.kept) == (pytest.approx(1.0), 0.0, True)


def test_few_policies_have_a_regret_but_no_correlation() -> None:
    few = base(NAMES[:3])
    one = agreement(few, few, GOODPUT)
    assert (one.tau, one.regret, one.best) == (None, 0.0, (NAMES[2],))


def test_what_nobody_measured_has_neither() -> None:
    runs = [PolicyRuns(name, (measured(name),)) for name in NAMES]
    assert (agreement(runs, runs, TTFT_MEAN).regret, agreement(runs, runs, TTFT_MEAN).kept) == (None, False)
