"""One policy against the best of all others, figure by figure, over every scene and load of an experiment."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from pointsman.observe.columns import TIE, Cell
from pointsman.observe.columns import Row as Line
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.layout import Place, Sheet, heading, placed, served, title
from pointsman.simulate.experiments.results import Row


class Match(msgspec.Struct, frozen=True):
    """At one place: the best other policy, and how many times as good as it the champion is; 1.0 is equal."""

    place: Place
    rival: str
    times: float


def matches(champion: str, name: str, rows: Iterable[Row]) -> list[Match]:
    """Of one figure, wherever both have it and it is not 0, nor below all that was tried.

    Rivals who leave requests unanswered do not count.
    """
    better = figure(name).better
    found = []
    for place, here in placed(rows).items():
        known = (row for row in served(here) if row.bounds.get(name) != "below")
        values = {row.policy: row.figures[name] for row in known if row.figures.get(name)}
        own = values.pop(champion, None)
        if own is None or not values:
            continue
        rival = (max if better == "higher" else min)(values, key=values.__getitem__)
        times = own / values[rival] if better == "higher" else values[rival] / own
        found.append(Match(place, rival, times))
    return found


def against_all(champion: str, names: Sequence[str], rows: Sequence[Row]) -> Sheet:
    """A line a figure: where it is best or ties with that, and by how much at the median, at its worst and its best."""
    lines = []
    for name in names:
        found = matches(champion, name, rows)
        if figure(name).better and found:
            lines.append(Line(heading(figure(name)), _cells(found)))
    head = ("figure", "best or tied", "median", "worst", "where", "best", "where")
    return Sheet(f"{champion}: times as good as the best of the others", head, tuple(lines))


def _cells(found: Sequence[Match]) -> tuple[Cell, ...]:
    ordered = sorted(found, key=lambda one: one.times)
    first, last = ordered[0], ordered[-1]
    leads = sum(one.times >= 1 - TIE for one in found)
    texts = (
        f"{leads} of {len(found)}",
        f"{np.median([one.times for one in found]):.2f}",
        f"{first.times:.2f}",
        _where(first),
        f"{last.times:.2f}",
        _where(last),
    )
    return tuple(Cell(text) for text in texts)


def _where(match: Match) -> str:
    return f"{title(match.place)}: {match.rival}"
