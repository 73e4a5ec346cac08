"""The figures of a comparison over sockets: bars, curves and maps of all its requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .drawing import BAR, MARK, RULE, heat_map, lines, panel, svg
from .page import Disturbance, Page, Run
from .sampled import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIME_BINS = 48


def bars_svg(page: Page) -> list[str]:
    """P99 time to first token and token hit ratio, one bar a policy."""
    late = [run.figures.ttft_p99_s or 0.0 for run in page.runs]
    hits = [100 * (run.figures.hit_ratio or 0.0) for run in page.runs]
    return [
        _bars(page, late, "{:.1f} s", "TTFT P99, s (lower is better)"),
        _bars(page, hits, "{:.0f} %", "token hits, % (higher is better)"),
    ]


def cdf_svg(page: Page) -> list[str]:
    """The whole distribution of the time to first token, and its tail enlarged; one line a policy."""
    (left, whole), (right, tail) = panel(3.4), panel(3.4)
    for run, line in zip(page.runs, lines([run.figures.name for run in page.runs]), strict=True):
        ttft = np.sort([sample.ttft_s for sample in run.samples if page.window.holds(sample.sent_s)])
        share = np.arange(1, len(ttft) + 1) / max(len(ttft), 1)
        whole.step(ttft, share, where="post", **line.look())
        tail.step(ttft, 1 - share + 1 / max(len(ttft), 1), where="pre", **line.look())
    wait_axes(whole, tail)
    return [svg(left), svg(right)]


def wait_axes(whole: Axes, tail: Axes) -> None:
    """Scales and words for the distribution of the time to first token, and for its tail."""
    for axes in (whole, tail):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("time to first token, s")
        axes.grid(color=RULE)
    whole.set(ylabel="share of requests as fast", ylim=(0, 1))
    tail.set(ylabel="share of requests as slow", yscale="log", ylim=(1e-3, 1))
    tail.yaxis.set_major_formatter(lambda value, _: f"{value:.1%}")


def timeline_svg(page: Page) -> list[str]:
    """Which node got the requests, and when: one heat map a policy, the disturbance framed; see `darkest`."""
    return [_map(run, page, darkest(page)) for run in page.runs]


def darkest(page: Page) -> float:
    """Requests per second that the darkest shade of all maps stands for."""
    return max((float(_placements(run, page).max()) for run in page.runs), default=1.0) or 1.0


def _map(run: Run, page: Page, top: float) -> str:
    figure, axes = heat_map(run.figures.name, page.nodes, _placements(run, page), page.seconds, top)
    if page.disturbance:
        _frame(axes, page.nodes, page.disturbance)
    return svg(figure)


def _placements(run: Run, page: Page) -> Numbers:
    """Requests sent per second, [nodes, TIME_BINS]."""
    edges = np.linspace(0, page.seconds, TIME_BINS + 1)
    sent = {node: [sample.sent_s for sample in run.samples if sample.node == node] for node in page.nodes}
    return np.array([np.histogram(sent[node], edges)[0] for node in page.nodes]) * (TIME_BINS / page.seconds)


def _frame(axes: Axes, nodes: Sequence[str], disturbance: Disturbance) -> None:
    from matplotlib.patches import Rectangle

    row = list(nodes).index(disturbance.node)
    width = disturbance.end_s - disturbance.start_s
    axes.add_patch(Rectangle((disturbance.start_s, row - 0.5), width, 1, fill=False, edgecolor=MARK, linewidth=1.6))


def _bars(page: Page, values: Sequence[float], form: str, label: str) -> str:
    figure, axes = panel(0.8 + 0.28 * len(page.runs))
    drawn = axes.barh([run.figures.name for run in page.runs], values, color=BAR, height=0.62)
    axes.bar_label(drawn, labels=[form.format(value) for value in values], padding=3, fontsize=9)
    axes.set_xlabel(label)
    axes.margins(x=0.18)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    return svg(figure)
