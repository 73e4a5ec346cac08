"""How figures of reports are drawn: narrow panels of SVG text, ready to stand inside a page, light or dark.

Each figure is one narrow panel: a wide page sets them side by side, a phone one below the other, and either way their
text is about as large as the text around. matplotlib is imported when the first figure is drawn: only reports need it.
Figures are made without pyplot, so nothing global is touched, and equal input gives equal text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .sampled import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_IN, MAP_IN = 4.6, 3.1  # widths: two panels or three maps stand side by side
MOST_ROWS = 16  # of a map, that have the height of their name
BAR, MARK, INK, RULE = "#3b6fb6", "#c8452f", "#333333", "#eeeeee"
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", INK)  # Okabe and Ito: for all eyes
DASHES = ("", "5 2", "1.5 1.5", "5 1.5 1.5 1.5")  # lengths in line widths; "" is solid
MOST_LINES, FEATURED = 12, 8  # curves that can be told apart, and those kept in colour where there are more
PALE, OTHERS = "#b5b5b5", "all others"
SHADES = "Blues"
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
    """How a policy's curve is drawn. `dash`: an SVG dash pattern in line widths, "" for solid."""

    name: str
    colour: str
    dash: str

    @property
    def stroke(self) -> str:
        """Its colour inside a page, for a legend."""
        return themed(self.colour)

    def look(self) -> dict[str, Any]:
        """Its colour and pattern for matplotlib."""
        dash = (0, tuple(float(part) for part in self.dash.split())) if self.dash else "-"
        return {"color": self.colour, "linestyle": dash, "linewidth": 1.6}


def lines(names: Sequence[str]) -> list[Line]:
    """One look a policy: hues first, then the same hues dashed."""
    return [Line(name, HUES[k % len(HUES)], DASHES[k // len(HUES) % len(DASHES)]) for k, name in enumerate(names)]


def featured(names: Sequence[str], order: Sequence[str]) -> dict[str, Line]:
    """The look of each policy: of more than can be told apart, the first in `order` have one of their own.

    All others share a pale one, which stands last, so that they are drawn below if drawn in reverse.
    """
    shown = [name for name in names if len(names) <= MOST_LINES or name in order[:FEATURED]]
    looks = {line.name: line for line in lines(shown)}
    return looks | {name: Line(OTHERS, PALE, "") for name in names if name not in looks}


def legend(looks: Mapping[str, Line]) -> tuple[Line, ...]:
    """Each look once."""
    return tuple(dict.fromkeys(looks.values()))


def panel(height_in: float, width_in: float = PANEL_IN) -> tuple[Figure, Axes]:
    """An empty figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    return figure, figure.subplots()


def heat_map(title: str, nodes: Sequence[str], values: Numbers, seconds: float, darkest: float) -> tuple[Figure, Axes]:
    """`values` [nodes, equal parts of so many seconds] as shades up to that of `darkest`."""
    figure, axes = panel(0.75 + 0.22 * min(len(nodes), MOST_ROWS), MAP_IN)
    extent = (0, seconds, len(nodes) - 0.5, -0.5)
    axes.imshow(values, aspect="auto", cmap=SHADES, vmin=0, vmax=darkest, extent=extent, interpolation="nearest")
    axes.set_title(title, fontsize=10, loc="left")
    every = -(-len(nodes) // MOST_ROWS)  # of many nodes, not all names would be legible
    axes.set_yticks(range(0, len(nodes), every), nodes[::every])
    axes.set_xlabel("seconds")
    return figure, axes


def shades() -> tuple[str, ...]:
    """Colours of heat maps from none to most, for a legend."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return tuple(to_hex(colormaps[SHADES](share)) for share in np.linspace(0, 1, 5))


def svg(figure: Figure) -> str:
    """The `<svg>` element alone, since its XML prologue has no place inside a page; ink as the page's own."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    text = out.getvalue()
    return themed(text[text.index("<svg") :])


def themed(text: str) -> str:
    """Ink and rules take the page's colours, which follow the reader's choice of light or dark."""
    return text.replace(INK, "currentColor").replace(RULE, "var(--rule)")
