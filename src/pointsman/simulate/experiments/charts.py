"""What an experiment measured, drawn: bars of one figure, a panel a scene, a policy a bar.

matplotlib is imported when the first one is drawn: only reports and documentation need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING

from pointsman.observe.drawing import BAR, INK, MARK, STYLE
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.layout import heading, placed, title
from pointsman.simulate.experiments.results import BEYOND, Results, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 8
"""Points of their text."""
ACROSS = 3
"""Panels beside each other."""
WIDE_IN, BAR_IN, ROOM_IN = 2.6, 0.17, 0.75


def chart(name: str, results: Results, champion: str) -> Figure:
    """Every scene that has the figure; the champion's bars in another colour. Drawn inside `STYLE`."""
    places = placed(row for row in results.rows if name in row.figures)
    return _drawn(name, {title(place): rows for place, rows in places.items()}, champion)


def alone(name: str, results: Results, champion: str) -> str:
    """The same as an SVG file, on white."""
    from matplotlib import rc_context

    with rc_context(STYLE | {"font.size": SMALL}):
        out = StringIO()
        chart(name, results, champion).savefig(out, format="svg", metadata={"Date": None}, facecolor="white")
    text = out.getvalue()
    return "\n".join(line.rstrip() for line in text[text.index("<svg") :].splitlines()) + "\n"


def _drawn(name: str, scenes: Mapping[str, Sequence[Row]], champion: str) -> Figure:
    from matplotlib.figure import Figure

    policies = list(dict.fromkeys(row.policy for rows in scenes.values() for row in rows))
    across = min(ACROSS, -(-len(scenes) // 2) if len(scenes) > ACROSS else len(scenes))
    down = -(-len(scenes) // across)
    whole = Figure(figsize=(1.2 + WIDE_IN * across, down * (ROOM_IN + BAR_IN * len(policies))), layout="constrained")
    panels = list(whole.subplots(down, across, sharey=True, squeeze=False).flat)
    panels[0].invert_yaxis()  # all share it: the first policy stands on top
    for panel, (scene, rows) in zip(panels, scenes.items(), strict=False):
        _bars(panel, name, policies, {row.policy: row for row in rows}, champion)
        panel.set_title(fill(scene, 40), fontsize=SMALL, loc="left")
    for panel in panels[len(scenes) :]:
        panel.set_visible(False)
    whole.supxlabel(heading(figure(name)), fontsize=SMALL)
    return whole


def _bars(panel: Axes, name: str, policies: Sequence[str], rows: Mapping[str, Row], champion: str) -> None:
    """One a policy that was measured there, at its own height, with the interval of its mean.

    Pale where the rate lies below all that was tried, marked where it lies above.
    """
    kind = figure(name)
    for place, row in ((place, rows[policy]) for place, policy in enumerate(policies) if policy in rows):
        value, bound = kind.scale * row.figures[name], row.bounds.get(name, "")
        colour = MARK if row.policy == champion else BAR
        panel.barh(place, value, color=colour, alpha=0.3 if bound == "below" else 1.0)
        if bound:
            panel.text(value, place, f" {BEYOND[bound].strip()}", va="center", fontsize=SMALL)
        if name in row.spans:
            panel.plot([kind.scale * end for end in row.spans[name]], [place, place], color=INK, linewidth=0.8)
    panel.set_yticks(range(len(policies)), policies)
    if not any(row.figures[name] for row in rows.values()):
        panel.set_xlim(0.0, 1.0)  # by itself it would show as much below nothing as above
    panel.margins(y=0.02)
