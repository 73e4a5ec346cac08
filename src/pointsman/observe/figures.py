"""Figures of a comparison, as SVG text ready to stand inside a page.

Each figure is one narrow panel: a wide page sets them side by side, a phone one below the other, and either way their
text is about as large as the text around. matplotlib is imported when the first figure is drawn: only reports need it.
Figures are made without pyplot, so nothing global is touched, and equal input gives equal text.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from .page import Disturbance, Page, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_IN, MAP_IN = 4.6, 3.1  # widths: two panels or three maps stand side by side
BAR, MARK, INK = "#3b6fb6", "#c8452f", "#333333"
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")  # Okabe and Ito: for all eyes
DASHES = ("", "5 2", "1.5 1.5")  # lengths in line widths; "" is solid
SHADES = "Blues"
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


class Line(msgspec.Struct, frozen=True):
    """How a policy's curve is drawn, for a legend. `dash`: an SVG dash pattern in line widths, "" for solid."""

    name: str
    colour: str
    dash: str


def lines(names: Sequence[str]) -> list[Line]:
    """One look a policy: hues first, then the same hues dashed."""
    return [Line(name, HUES[k % len(HUES)], DASHES[k // len(HUES) % len(DASHES)]) for k, name in enumerate(names)]


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
    (left, whole), (right, tail) = _panel(3.4), _panel(3.4)
    for run, line in zip(page.runs, lines([run.figures.name for run in page.runs]), strict=True):
        ttft = np.sort([sample.ttft_s for sample in run.samples if page.window.holds(sample.sent_s)])
        share = np.arange(1, len(ttft) + 1) / max(len(ttft), 1)
        look: Any = {"color": line.colour, "linestyle": _linestyle(line), "linewidth": 1.6}
        whole.step(ttft, share, where="post", **look)
        tail.step(ttft, 1 - share + 1 / max(len(ttft), 1), where="pre", **look)
    for axes in (whole, tail):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("time to first token, s")
        axes.grid(color="#eeeeee")
    whole.set(ylabel="share of requests as fast", ylim=(0, 1))
    tail.set(ylabel="share of requests as slow", yscale="log", ylim=(1e-3, 1))
    tail.yaxis.set_major_formatter(lambda value, _: f"{value:.1%}")
    return [_svg(left), _svg(right)]


def timeline_svg(page: Page) -> list[str]:
    """Which node got the requests, and when: one heat map a policy, the disturbance framed; see `darkest`."""
    return [_map(run, page, darkest(page)) for run in page.runs]


def darkest(page: Page) -> float:
    """Requests per second that the darkest shade of all maps stands for."""
    return max((float(_placements(run, page).max()) for run in page.runs), default=1.0) or 1.0


def shades() -> tuple[str, ...]:
    """Colours of the maps from none to most, for a legend."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return tuple(to_hex(colormaps[SHADES](share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0))


def _map(run: Run, page: Page, top: float) -> str:
    figure, axes = _panel(0.75 + 0.22 * len(page.nodes), MAP_IN)
    extent = (0, page.seconds, len(page.nodes) - 0.5, -0.5)
    axes.imshow(_placements(run, page), aspect="auto", cmap=SHADES, vmin=0, vmax=top, extent=extent)
    axes.set_title(run.figures.name, fontsize=10, loc="left")
    axes.set_yticks(range(len(page.nodes)), page.nodes)
    axes.set_xlabel("seconds")
    if page.disturbance:
        _frame(axes, page.nodes, page.disturbance)
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


def _bars(page: Page, values: Sequence[float], form: str, label: str) -> str:
    figure, axes = _panel(0.8 + 0.28 * len(page.runs))
    drawn = axes.barh([run.figures.name for run in page.runs], values, color=BAR, height=0.62)
    axes.bar_label(drawn, labels=[form.format(value) for value in values], padding=3, fontsize=9)
    axes.set_xlabel(label)
    axes.margins(x=0.18)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    return _svg(figure)


def _linestyle(line: Line) -> Any:
    return (0, tuple(float(part) for part in line.dash.split())) if line.dash else "-"


def _panel(height_in: float, width_in: float = PANEL_IN) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure) -> str:
    """The `<svg>` element alone; its XML prologue has no place inside a page."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
