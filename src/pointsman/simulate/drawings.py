"""Figures of simulations, as SVG text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pointsman.observe.columns import Column
from pointsman.observe.drawing import BAR, RULE, heat_map, lines, panel, svg
from pointsman.observe.figures import wait_axes
from pointsman.observe.sampled import Numbers
from pointsman.sim.shape import TTFT_EDGES
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
    known = [value for value in values if value is not None]
    if known and min(known) > 0 and max(known) > FAR * min(known):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return svg(figure)


def waits_svg(results: Sequence[PolicyRuns]) -> list[str]:
    """The distribution of the time to first token over all seeds, and its tail enlarged; one line a policy."""
    (left, whole), (right, tail) = panel(3.4), panel(3.4)
    for result, line in zip(results, lines([result.name for result in results]), strict=True):
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
    for result, line in zip(results, lines([result.name for result in results]), strict=True):
        groups = result.mean().slowdown_by_length
        axes.plot(range(1, len(groups) + 1), groups, **line.look())
    axes.set(xlabel="tenth of requests, from the shortest prompts", ylabel="slowdown (1: alone on the fastest node)")
    axes.set_xticks(range(1, 11))
    axes.grid(color=RULE)
    return svg(figure)


def maps_svg(results: Sequence[PolicyRuns], nodes: Sequence[str], seconds: float) -> list[str]:
    """Requests on each node over time, in the first seed's run; one map a policy. See `darkest`."""
    most = darkest(results)
    return [svg(heat_map(result.name, nodes, _load(result), seconds, most)[0]) for result in results]


def darkest(results: Sequence[PolicyRuns]) -> float:
    """Requests on a node that the darkest shade of all maps stands for: more are as dark.

    Of all nodes and moments one in fifty has more, so that a few moments do not make all others pale.
    """
    return float(np.quantile(np.concatenate([_load(result).ravel() for result in results]), 0.98)) or 1.0


def _load(result: PolicyRuns) -> Numbers:
    shape = result.runs[0].shape
    assert shape is not None
    return np.array(shape.load)


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
    names = swept.scene.config.policies
    for name, line in zip(names, lines(names), strict=True):
        _policy_curve(axes, swept, name, column, line.look())
    axes.set(xlabel="requests/s", ylabel=label)
    axes.grid(color=RULE)
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
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
