"""Results as tables of text, for the terminal and the page alike."""

from collections.abc import Iterable, Sequence

import msgspec

from pointsman.config.experiment import TableSpec
from pointsman.observe.columns import TIE, Cell
from pointsman.observe.columns import Row as Line
from pointsman.simulate.experiments.figures import Figure, best_of, figure
from pointsman.simulate.experiments.results import Results, Row, told

Place = tuple[str, float | None]


class Sheet(msgspec.Struct, frozen=True):
    """A table: the heading of each column, the first of them for names, and its rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Line, ...]


def sheets(spec: TableSpec, results: Results) -> list[Sheet]:
    """The tables that are asked for, without those that nothing stands in."""
    rows = [row for row in results.rows if spec.scene in row.scene and spec.load in (None, row.load)]
    if spec.by == "figure":
        return [sheet for name in spec.figures if (sheet := _by_figure(name, rows)).rows]
    found = (_by_scene(place, spec.figures, here) for place, here in placed(rows).items())
    return [sheet for sheet in found if len(sheet.head) > 1]


def _by_scene(place: Place, names: Sequence[str], rows: Sequence[Row]) -> Sheet:
    measured = [name for name in names if any(name in row.figures for row in rows)]
    columns = [_column(name, rows) for name in measured]
    return Sheet(title(place), ("policy", *(heading(figure(name)) for name in measured)), _lines(columns))


def _by_figure(name: str, rows: Sequence[Row]) -> Sheet:
    """Policies against scenes, whichever are more going down."""
    places = placed(row for row in rows if name in row.figures)
    columns = {title(place) or "value": _column(name, here) for place, here in places.items()}
    policies = list(dict.fromkeys(policy for column in columns.values() for policy in column))
    if len(columns) <= len(policies):
        return Sheet(heading(figure(name)), ("policy", *columns), _lines(list(columns.values())))
    lines = (
        Line(place, tuple(column.get(policy, Cell("–")) for policy in policies)) for place, column in columns.items()
    )
    return Sheet(heading(figure(name)), ("scene", *policies), tuple(lines))


def _lines(columns: Sequence[dict[str, Cell]]) -> tuple[Line, ...]:
    policies = dict.fromkeys(name for column in columns for name in column)
    return tuple(Line(name, tuple(column.get(name, Cell("–")) for column in columns)) for name in policies)


def _column(name: str, rows: Iterable[Row]) -> dict[str, Cell]:
    """One figure of every policy. Who left more unanswered than others is not among the best of anything else."""
    kind, rows = figure(name), list(rows)
    best = best_of({row.policy: row.figures[name] for row in served(rows) if name in row.figures}, kind.better)
    return {row.policy: Cell(told(row, name), row.policy in best, _span(row, name, kind)) for row in rows}


def served(rows: Iterable[Row]) -> list[Row]:
    """Those of policies that left no more requests unanswered than others did."""
    rows = list(rows)
    most = max((row.figures["success"] for row in rows if "success" in row.figures), default=0.0)
    return [row for row in rows if row.figures.get("success", most) >= (1 - TIE) * most]


def _span(row: Row, name: str, kind: Figure) -> str:
    """Half the width of its interval, where that shows."""
    if name not in row.spans:
        return ""
    low, high = row.spans[name]
    half = kind.text((high - low) / 2)
    return f"±{half}" if float(half) else ""


def heading(kind: Figure) -> str:
    """Its name, its unit, and which way is better."""
    arrow = {"lower": "↓", "higher": "↑", "": ""}[kind.better]
    return " ".join(part for part in (kind.heading, kind.unit and f"({kind.unit})", arrow) if part)


def title(place: Place) -> str:
    """A scene, and the load if there is one."""
    scene, load = place
    return ", ".join(part for part in (scene, "" if load is None else f"load {load:g}") if part)


def placed(rows: Iterable[Row]) -> dict[Place, list[Row]]:
    """Rows by scene and load, in their order."""
    found: dict[Place, list[Row]] = {}
    for row in rows:
        found.setdefault((row.scene, row.load), []).append(row)
    return found
