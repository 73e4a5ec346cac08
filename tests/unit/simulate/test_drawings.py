"""Figures of simulations: well formed, whole, and honest about what there is to draw."""

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

import matplotlib
import msgspec
import pytest
from tests.support.measured import NODES, measured

from pointsman.config.sweep import SweepConfig
from pointsman.observe.drawing import STYLE
from pointsman.simulate.drawings import darkest, dots_svg, load_curves_svg, maps_svg, slowdown_svg, waits_svg
from pointsman.simulate.standing import TTFT_P99, PolicyRuns
from pointsman.simulate.sweep import Point, Scene, Swept


@pytest.fixture(autouse=True)
def as_in_a_page() -> Iterator[None]:
    with matplotlib.rc_context(STYLE):
        yield


def runs(name: str, *ttft: float | None) -> PolicyRuns:
    seeds = enumerate(ttft, 1)
    return PolicyRuns(name, tuple(measured(name, seed, shaped=True, ttft_p99_s=value) for seed, value in seeds))


RESULTS = [runs("jffc", 1.0, 2.0), runs("session", 50.0, 60.0), runs("round_robin", None, None)]


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_policy_has_its_dot_and_value() -> None:
    words = texts(dots_svg(RESULTS, TTFT_P99, "P99, s"))
    assert {"jffc", "session", "round_robin", "1.50", "55.00", "P99, s"} <= set(words)


def test_the_curves_of_waits_are_drawn_from_all_seeds() -> None:
    whole, tail = waits_svg(RESULTS)
    assert "share of requests as fast" in texts(whole)
    assert "share of requests as slow" in texts(tail)


def test_few_requests_have_no_slowdown_to_draw() -> None:
    assert "slowdown (1: alone on the fastest node)" in texts(slowdown_svg(RESULTS))


def test_every_policy_has_its_map_under_one_scale() -> None:
    maps = maps_svg(RESULTS, NODES)
    for svg, result in zip(maps, RESULTS, strict=True):
        assert {*NODES, result.name} <= set(texts(svg))
    assert darkest(RESULTS) == 2.0


def test_an_idle_fleet_has_a_scale_too() -> None:
    shape = RESULTS[0].runs[0].shape
    assert shape is not None
    idle = msgspec.structs.replace(RESULTS[0].runs[0], shape=msgspec.structs.replace(shape, load=((0.0,), (0.0,))))
    assert darkest([PolicyRuns("jffc", (idle,))]) == 1.0


@pytest.mark.parametrize("ttft", [(1.0, 2.0), (None, None), (1.0,)])
def test_curves_against_load(ttft: Sequence[float | None]) -> None:
    tried = {load: runs("jffc", *ttft) for load in (0.5, 1.0)}
    config = SweepConfig(policies=("jffc",), seeds=len(ttft))
    points = tuple(Point(load, 10 * load, (one,)) for load, one in tried.items())
    figures = load_curves_svg(Swept(Scene("", config, 10.0), points, {"jffc": tried}, ()))
    labels = ("inside the SLO, %", "goodput, requests/s", "mean TTFT, s", "P99 TTFT, s")
    assert [label in texts(svg) for label, svg in zip(labels, figures, strict=True)] == [True] * 4
