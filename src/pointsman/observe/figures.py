"""Figures of a comparison, as SVG text ready to stand inside a page.

matplotlib is imported when the first figure is drawn: only reports need it. Figures are made without pyplot, so nothing
global is touched, and equal input gives equal text.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .page import Disturbance, Page, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 9.0
BAR, MARK, INK = "#3b6fb6", "#c8452f", "#333333"
LINES = ("#3b6fb6", "#e08214", "#2b8c5a", "#c8452f", "#7b5ea7", "#8c6d4f", "#d46fa8", "#6d6d6d", "#111111", "#b5a800")
TIME_BINS = 48
STYLE: Any = {  # matplotlib types the keys of its settings one by one
    "svg.fonttype": "none",  # text stays text: searchable and small
    "svg.hashsalt": "pointsman",
    "font.size": 10,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#999999",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def bars_svg(page: Page) -> str:
    """P99 time to first token and token hit ratio, one bar a policy."""
    figure = _figure(1.1 + 0.34 * len(page.runs))
    left, right = figure.subplots(1, 2, sharey=True)
    names = [run.figures.name for run in page.runs]
    _bars(left, names, [run.figures.ttft_p99_s or 0.0 for run in page.runs], "{:.1f} s", "P99 time to first token, s")
    hits = [100 * (run.figures.hit_ratio or 0.0) for run in page.runs]
    _bars(right, names, hits, "{:.0f} %", "prompt tokens found in a cache, %")
    left.invert_yaxis()
    return _svg(figure)


def cdf_svg(page: Page) -> str:
    """The whole distribution of the time to first token, and its tail enlarged; one line a policy."""
    figure = _figure(4.4)
    whole, tail = figure.subplots(1, 2)
    for place, run in enumerate(page.runs):
        ttft = np.sort([sample.ttft_s for sample in run.samples if page.window.holds(sample.sent_s)])
        share = np.arange(1, len(ttft) + 1) / max(len(ttft), 1)
        look: Any = {"color": LINES[place % len(LINES)], "linestyle": "-" if place < len(LINES) else "--"}
        whole.step(ttft, share, where="post", label=run.figures.name, **look)
        tail.step(ttft, 1 - share + 1 / max(len(ttft), 1), where="pre", **look)
    for axes in (whole, tail):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("time to first token, s")
        axes.grid(color="#eeeeee")
    whole.set(ylabel="share of requests as fast", ylim=(0, 1))
    tail.set(ylabel="share of requests as slow", yscale="log", ylim=(1e-3, 1))
    tail.yaxis.set_major_formatter(lambda value, _: f"{value:.1%}")
    figure.legend(frameon=False, loc="outside lower center", ncols=5, fontsize=9)
    return _svg(figure)


def timeline_svg(page: Page) -> str:
    """Which node got the requests, and when: one heat map a policy, the disturbance framed."""
    columns = min(3, len(page.runs))
    rows = -(-len(page.runs) // columns)
    figure = _figure(0.9 + (0.55 + 0.22 * len(page.nodes)) * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    maps = [_placements(run, page) for run in page.runs]
    top = max((float(one.max()) for one in maps), default=1.0) or 1.0
    for axes in grid.flat[len(page.runs) :]:
        axes.set_axis_off()
    for axes, run, placed in zip(grid.flat, page.runs, maps, strict=False):
        image = axes.imshow(
            placed, aspect="auto", cmap="Blues", vmin=0, vmax=top, extent=(0, page.seconds, len(page.nodes) - 0.5, -0.5)
        )
        axes.set_title(run.figures.name, fontsize=10, loc="left")
        axes.set_yticks(range(len(page.nodes)), page.nodes)
        if page.disturbance:
            _frame(axes, page.nodes, page.disturbance)
    for axes in grid[-1]:
        axes.set_xlabel("seconds")
    figure.colorbar(image, ax=grid, label="requests placed per second", shrink=0.6, pad=0.02)
    return _svg(figure)


def _placements(run: Run, page: Page) -> NDArray[np.float64]:
    """Requests sent per second, [nodes, TIME_BINS]."""
    edges = np.linspace(0, page.seconds, TIME_BINS + 1)
    sent = {node: [sample.sent_s for sample in run.samples if sample.node == node] for node in page.nodes}
    return np.array([np.histogram(sent[node], edges)[0] for node in page.nodes]) * (TIME_BINS / page.seconds)


def _frame(axes: Axes, nodes: Sequence[str], disturbance: Disturbance) -> None:
    from matplotlib.patches import Rectangle

    row = list(nodes).index(disturbance.node)
    width = disturbance.end_s - disturbance.start_s
    axes.add_patch(Rectangle((disturbance.start_s, row - 0.5), width, 1, fill=False, edgecolor=MARK, linewidth=1.6))


def _bars(axes: Axes, names: Sequence[str], values: Sequence[float], form: str, label: str) -> None:
    drawn = axes.barh(names, values, color=BAR, height=0.62)
    axes.bar_label(drawn, labels=[form.format(value) for value in values], padding=3, fontsize=9)
    axes.set_xlabel(label)
    axes.margins(x=0.16)
    axes.tick_params(axis="y", length=0)


def _figure(height_in: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def _svg(figure: Figure) -> str:
    """The `<svg>` element alone; its XML prologue has no place inside a page."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
