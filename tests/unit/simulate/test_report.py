"""Pages of simulations: complete, self-contained, and the verdict first."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from tests.support.measured import measured

from pointsman.config.sim import SimConfig
from pointsman.config.sweep import SweepConfig
from pointsman.simulate.cases import Case, Measured, cases_of, measure
from pointsman.simulate.plan import planned
from pointsman.simulate.report import comparison_page, sweep_page
from pointsman.simulate.standing import by_policy
from pointsman.simulate.sweep import Scene, sweep

POLICIES = ("round_robin", "fastest_completion")


@pytest.fixture(scope="module")
def comparison() -> str:
    config = SimConfig(seconds=10.0, rate=8.0, seeds=2, warm_up=0.0)
    found = [measure(case, lambda _: None) for case in cases_of(config, POLICIES, shaped=True)]
    return comparison_page(by_policy(POLICIES, found), planned(config))


@pytest.fixture(scope="module")
def swept() -> str:
    def answers(cases: Sequence[Case]) -> list[Measured]:
        return [
            measured(case.policy, case.config.seed, shaped=case.shaped, in_slo=1 - 0.05 * (case.config.rate or 0))
            for case in cases
        ]

    config = SweepConfig(policies=POLICIES, loads=(0.1, 0.9), seeds=2)
    return sweep_page([sweep(Scene("on <mixed>", config, 10.0), answers, shaped=True)])


@pytest.fixture(params=["comparison", "swept"])
def html(request: pytest.FixtureRequest) -> str:
    page: str = request.getfixturevalue(request.param)
    return page


def test_nothing_is_loaded_from_elsewhere(html: str) -> None:
    assert "<script" not in html
    assert not re.search(r"(src|href)=\"(?!#|data:)", html)


def test_figures_are_well_formed(html: str) -> None:
    drawn = re.findall(r"<svg.*?</svg>", html, re.S)
    assert len(drawn) > 8
    for svg in drawn:
        ElementTree.fromstring(svg)


def test_every_policy_is_described_and_the_figures_explained(html: str) -> None:
    assert "<dt>round_robin</dt><dd>Round robin: candidates in turn" in html
    assert "<dt>Goodput</dt>" in html
    assert "Simulated: nothing here was measured on a machine." in html


def test_the_verdict_comes_first_and_what_was_simulated_last(comparison: str) -> None:
    said = ["headline figures", "The figures", "Objective and tail", "<svg", "Everything measured", "Fleet: fast-1"]
    places = [comparison.index(text) for text in said]
    assert places == sorted(places)


def test_intervals_stand_below_their_means(comparison: str) -> None:
    assert re.search(r"<td[^>]*>[\d.]+<small>[\d.]+ – [\d.]+</small></td>", comparison)


def test_a_sweep_shows_rates_curves_and_all_loads(swept: str) -> None:
    for text in ("on &lt;mixed&gt;: round_robin", "2.00 requests/s", "Against load", "at load 0.1", "at load 0.9"):
        assert text.lower() in swept.lower()
    assert "<mixed>" not in swept
