"""The figures of the page of results: bars of one measured figure, a panel a scene, a policy a bar."""

from collections.abc import Mapping, Sequence
from io import StringIO
from textwrap import fill
from typing import Any

from pointsman.observe.drawing import BAR, INK, MARK, STYLE
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

    policies = list(dict.fromkeys(row.policy for rows in scenes.values() for row in rows))
    across = min(ACROSS, -(-len(scenes) // 2) if len(scenes) > ACROSS else len(scenes))
    down = -(-len(scenes) // across)
    whole = Figure(figsize=(1.2 + WIDE_IN * across, down * (ROOM_IN + BAR_IN * len(policies))), layout="constrained")
    panels = list(whole.subplots(down, across, sharey=True, squeeze=False).flat)
    panels[0].invert_yaxis()  # all share it: the first policy stands on top
    for panel, (scene, rows) in zip(panels, scenes.items(), strict=False):
        _bars(panel, name, policies, {row.policy: row for row in rows}, champion)
        panel.set_title(fill(scene, 44), fontsize=8, loc="left")
    for panel in panels[len(scenes) :]:
        panel.set_visible(False)
    whole.supxlabel(heading(figure(name)), fontsize=8)
    return whole


def _bars(panel: Any, name: str, policies: Sequence[str], rows: Mapping[str, Row], champion: str) -> None:
    """One a policy that was measured there, at its own height, with the interval of its mean."""
    kind = figure(name)
    for place, policy in enumerate(policies):
        if policy in rows:
            value = rows[policy].figures[name]
            low, high = rows[policy].spans.get(name, (value, value))
            panel.barh(
                place,
                kind.scale * value,
                color=MARK if policy == champion else BAR,
                xerr=[[kind.scale * max(0.0, value - low)], [kind.scale * max(0.0, high - value)]],
                error_kw={"elinewidth": 0.8, "ecolor": INK},
            )
    panel.set_yticks(range(len(policies)), policies)
