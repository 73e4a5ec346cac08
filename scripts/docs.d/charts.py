"""The figures of the page of results: bars of one measured figure, a panel a scene, a policy a bar."""

from collections.abc import Mapping, Sequence
from io import StringIO
from textwrap import fill
from typing import Any

from pointsman.observe.drawing import BAR, MARK, STYLE
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.layout import heading, placed, title
from pointsman.simulate.experiments.results import Results, Row

ACROSS = 3
"""Panels beside each other."""
WIDE_IN, BAR_IN, ROOM_IN = 2.6, 0.17, 0.75


def chart(name: str, results: Results, champion: str) -> str:
    """An SVG file: every scene that has the figure; the champion's bars in another colour."""
    from matplotlib import rc_context

    places = placed(row for row in results.rows if name in row.figures)
    with rc_context(STYLE | {"font.size": 8}):
        drawn = _drawn(name, {title(place): rows for place, rows in places.items()}, champion)
        out = StringIO()
        drawn.savefig(out, format="svg", metadata={"Date": None}, facecolor="white")
    text = out.getvalue()
    return "\n".join(line.rstrip() for line in text[text.index("<svg") :].splitlines()) + "\n"


def _drawn(name: str, scenes: Mapping[str, Sequence[Row]], champion: str) -> Any:
    from matplotlib.figure import Figure

    down = -(-len(scenes) // ACROSS)
    bars = max(len(rows) for rows in scenes.values())
    across = min(ACROSS, len(scenes))
    whole = Figure(figsize=(1.2 + WIDE_IN * across, down * (ROOM_IN + BAR_IN * bars)), layout="constrained")
    panels = whole.subplots(down, across, sharey=True, squeeze=False).flat
    panels[0].invert_yaxis()  # all share it: the first policy stands on top
    for panel, (scene, rows) in zip(panels, scenes.items(), strict=False):
        _bars(panel, name, rows, champion)
        panel.set_title(fill(scene, 44), fontsize=8, loc="left")
    for panel in list(panels)[len(scenes) :]:
        panel.set_visible(False)
    whole.supxlabel(heading(figure(name)), fontsize=8)
    return whole


def _bars(panel: Any, name: str, rows: Sequence[Row], champion: str) -> None:
    kind = figure(name)
    values = [kind.scale * row.figures.get(name, 0.0) for row in rows]
    colours = [MARK if row.policy == champion else BAR for row in rows]
    ends = [row.spans.get(name, (row.figures.get(name, 0.0),) * 2) for row in rows]
    about = [[abs(kind.scale * end[side] - value) for end, value in zip(ends, values, strict=True)] for side in (0, 1)]
    places = range(len(rows))
    panel.barh(places, values, color=colours, xerr=about, error_kw={"elinewidth": 0.8, "ecolor": "#333333"})
    panel.set_yticks(places, [row.policy for row in rows])
