"""Figures of simulations, as SVG text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pointsman.observe.columns import Column
from pointsman.observe.drawing import BAR, OTHERS, RULE, Line, featured, heat_map, panel, svg
from pointsman.observe.figures import wait_axes
from pointsman.sim.shape import TTFT_EDGES, Shape
from pointsman.simulate.standing import GOODPUT, IN_SLO, TTFT_MEAN, TTFT_P99, PolicyRuns
from pointsman.simulate.sweep import TARGETS, Swept

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR = 20
"""Values that lie further apart, as a ratio, are drawn on a logarithmic scale."""


def dots_svg(results: Sequence[PolicyRuns], column: Column, label: str) -> str:
    """One figure of every policy, a dot with its interval."""
    figure, axes = panel(0.8 + 0.28 * len(results))
    values = [column.figure(result.mean()) for result in results]
    for place, (result, value) in enumerate(zip(results, values, strict=True)):
        if value is None:
            continue
        span = result.interval(column)
        if span is not None:
            axes.plot([span.low, span.high], [place, place], color=BAR, linewidth=2, alpha=0.6)
        axes.plot([value], [place], "o", color=BAR, markersize=6)
        axes.annotate(
            f"{value:{column.form}}", (value, place), (0, 6), textcoords="offset points", fontsize=8, ha="center"
        )
    axes.set_yticks(range(len(results)), [result.name for result in results])
    axes.set_ylim(len(results) - 0.4, -0.7)
    axes.set_xlabel(label)
    axes.margins(x=0.12)
    axes.grid(axis="x", color=RULE)
    if column.better == "lower" and _far_apart([value for value in values if value is not None]):
        _logarithmic(axes, "x")
    return svg(figure)


def looks_of(results: Sequence[PolicyRuns]) -> dict[str, Line]:
    """How each policy is drawn; of many, those with the most requests inside the SLO stand out."""
    by_slo = sorted(results, key=lambda result: -(result.mean().in_slo or 0.0))
    return featured([result.name for result in results], [result.name for result in by_slo])


def waits_svg(results: Sequence[PolicyRuns]) -> list[str]:
    """The distribution of the time to first token over all seeds, and its tail enlarged; one line a policy."""
    (left, whole), (right, tail) = panel(3.4), panel(3.4)
    for result, line in _pale_first(results):
        counts = np.sum([run.shape.ttft for run in result.runs if run.shape is not None], axis=0, dtype=float)
        if not counts.sum():
            continue
        reached = np.concatenate(([0.0], counts.cumsum() / counts.sum()))
        some = slice(max(0, int(np.argmax(reached > 0)) - 1), int(np.argmax(reached >= 1 - 1e-12)) + 1)
        whole.plot(TTFT_EDGES[some], reached[some], **line.look())
        tail.plot(TTFT_EDGES[some], np.maximum(1 - reached[some], 1e-9), **line.look())
    wait_axes(whole, tail)
    return [svg(left), svg(right)]


def slowdown_svg(results: Sequence[PolicyRuns]) -> str:
    """Mean slowdown by length of prompt, from the shortest tenth to the longest; one line a policy."""
    figure, axes = panel(3.4)
    for result, line in _pale_first(results):
        groups = result.mean().slowdown_by_length
        axes.plot(range(1, len(groups) + 1), groups, **line.look())
    if _far_apart([value for result in results for value in result.mean().slowdown_by_length]):
        _logarithmic(axes, "y")
    axes.set(xlabel="tenth of requests, from the shortest prompts", ylabel="slowdown (1: alone on the fastest node)")
    axes.set_xticks(range(1, 11))
    axes.grid(color=RULE)
    return svg(figure)


def _pale_first(results: Sequence[PolicyRuns]) -> list[tuple[PolicyRuns, Line]]:
    """So that what stands out is drawn above."""
    looks = looks_of(results)
    return sorted(((result, looks[result.name]) for result in results), key=lambda pair: pair[1].name != OTHERS)


def _far_apart(values: Sequence[float]) -> bool:
    return bool(values) and 0 < min(values) < max(values) / FAR


def maps_svg(results: Sequence[PolicyRuns], nodes: Sequence[str]) -> list[str]:
    """Requests on each node over time, in the first seed's run; one map a policy. See `darkest`."""
    most = darkest(results)
    maps = (
        heat_map(result.name, nodes, np.array(shape.load), shape.seconds, most) for result, shape in _shapes(results)
    )
    return [svg(figure) for figure, _ in maps]


def darkest(results: Sequence[PolicyRuns]) -> float:
    """Requests on a node that the darkest shade of all maps stands for: more are as dark.

    Of all nodes and moments one in fifty has more, so that a few moments do not make all others pale.
    """
    return float(np.quantile(np.concatenate([np.ravel(shape.load) for _, shape in _shapes(results)]), 0.98)) or 1.0


def _shapes(results: Sequence[PolicyRuns]) -> Iterator[tuple[PolicyRuns, Shape]]:
    for result in results:
        shape = result.runs[0].shape
        assert shape is not None
        yield result, shape


def swept_looks(swept: Swept) -> dict[str, Line]:
    """How each policy is drawn; of many, those that keep the objective longest stand out."""
    kept = sorted((one for one in swept.capacities if one.target == TARGETS[0]), key=lambda one: -one.rate_rps)
    return featured(swept.scene.config.policies, [one.policy for one in kept])


def load_curves_svg(swept: Swept) -> list[str]:
    """Requests inside the SLO, goodput and times to first token against the rate, with intervals."""
    return [
        _curve(swept, IN_SLO, "inside the SLO, %", targets=True),
        _curve(swept, GOODPUT, "goodput, requests/s"),
        _curve(swept, TTFT_MEAN, "mean TTFT, s", log=True),
        _curve(swept, TTFT_P99, "P99 TTFT, s", log=True),
    ]


def _curve(swept: Swept, column: Column, label: str, *, log: bool = False, targets: bool = False) -> str:
    figure, axes = panel(3.4)
    if targets:
        for target in TARGETS:
            axes.axhline(100 * target, color="#999999", linewidth=0.8, linestyle=(0, (2, 2)))
    looks = swept_looks(swept)
    for name in sorted(looks, key=lambda name: looks[name].name != OTHERS):
        _policy_curve(axes, swept, name, column, looks[name].look())
    axes.set(xlabel="requests/s", ylabel=label)
    axes.grid(color=RULE)
    if log:
        _logarithmic(axes, "y")
    return svg(figure)


def _policy_curve(axes: Axes, swept: Swept, name: str, column: Column, look: dict[str, Any]) -> None:
    known = [(load, result, column.figure(result.mean())) for load, result in sorted(swept.tried[name].items())]
    rates = [load * swept.scene.unit_rps for load, _, _ in known]
    axes.plot(rates, np.array([value for _, _, value in known], dtype=float), marker="o", markersize=2.5, **look)
    spans = [result.interval(column) for _, result, _ in known]
    sure = [(rate, span) for rate, span in zip(rates, spans, strict=True) if span is not None]
    if sure:
        low, high = [span.low for _, span in sure], [span.high for _, span in sure]
        axes.fill_between([rate for rate, _ in sure], low, high, color=look["color"], alpha=0.15, linewidth=0)


def _logarithmic(axes: Axes, axis: Literal["x", "y"]) -> None:
    """With ticks at 1, 2 and 5, and as 10, not 10 to the power of 1."""
    from matplotlib.ticker import LogLocator

    axes.set(**{f"{axis}scale": "log"})
    ticks = axes.xaxis if axis == "x" else axes.yaxis
    ticks.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ticks.set_major_formatter(lambda value, _: f"{value:g}")
    ticks.set_minor_formatter(lambda _value, _: "")
