"""The committed results of the experiment hold what is said of them, and the documentation shows them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pointsman.chains.planner import Layout, plan
from pointsman.config.flags import load as load_settings
from pointsman.config.plan import ChainsConfig, servers_of, service_of

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "examples" / "experiments" / "results"
PAGE = (ROOT / "docs" / "explanation" / "chains.md").read_text(encoding="utf-8")

Means = dict[str, tuple[float, float]]


def at_loads(name: str) -> dict[float, tuple[Means, dict[str, float] | None]]:
    """By load: each policy's mean and half width, and the bounds."""
    document = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return {
        round(at["load"], 3): (
            {mean["policy"]: (mean["mean_s"], mean["half_width_s"]) for mean in at["means"]},
            at["bounds"],
        )
        for at in document["simulated"]
    }


def cells(means: Means, bounds: dict[str, Any] | None) -> str:
    figures = [mean for mean, _ in means.values()] + list((bounds or {}).values())
    return " | ".join(f"{figure:.2f}" for figure in figures)


@pytest.mark.parametrize("name", ["chains", "chains-slowdown-0.2", "chains-slowdown-1.0"])
def test_the_page_shows_the_results(name: str) -> None:
    for load, (means, bounds) in at_loads(name).items():
        assert f"| {load} | {cells(means, bounds)} |" in PAGE


def test_fastest_free_lies_between_its_bounds() -> None:
    for means, bounds in at_loads("chains").values():
        mean, half = means["fastest_free"]
        assert bounds is not None
        assert bounds["lower_s"] - half <= mean <= bounds["upper_s"] + half


@pytest.mark.parametrize(("load", "gain"), [(0.1, 0.38), (0.5, 0.22), (0.7, 0.11), (0.9, 0.06)])
def test_it_beats_the_shortest_queue_as_published(load: float, gain: float) -> None:
    means, _ = at_loads("chains")[load]
    assert 1.0 - means["fastest_free"][0] / means["least_requests"][0] == pytest.approx(gain, abs=0.015)


def test_speed_aware_shortest_queue_is_within_two_percent() -> None:
    for means, _ in at_loads("chains").values():
        assert means["sa_jsq"][0] == pytest.approx(means["fastest_free"][0], rel=0.021)


@pytest.mark.parametrize("name", ["chains-slowdown-0.2", "chains-slowdown-1.0"])
def test_where_jobs_slow_each_other_the_batched_rule_wins_at_load(name: str) -> None:
    for load, (means, _) in at_loads(name).items():
        if load >= 0.5:
            assert means["fastest_free_batched"][0] == min(mean for mean, _ in means.values())


@pytest.mark.parametrize(
    ("rate", "whole", "split"), re.findall(r"^\| ([\d.]+) \| ([\d.*–s ]+) \| ([\d.*s ]+) \|$", PAGE, re.MULTILINE)
)
def test_the_page_says_when_splitting_wins(rate: str, whole: str, split: str) -> None:
    path = ROOT / "examples" / "experiments" / "chains-whole.toml"
    config = load_settings(ChainsConfig, str(path), {"rate": float(rate)})
    found = plan(servers_of(config), service_of(config), rate=float(rate), target_load=config.target_load)
    best = {kind: least([layout for layout in found.tried if layout.whole_models is kind]) for kind in (True, False)}
    assert (whole.replace("*", ""), split.replace("*", "")) == (best[True], best[False])
    assert ("*" in whole, "*" in split) == (found.best.whole_models, not found.best.whole_models)


def least(layouts: list[Layout]) -> str:
    """The least lower bound, as the page writes it."""
    found = [layout.response.lower_s for layout in layouts if layout.response]
    return f"{min(found):.2f} s" if found else "–"
