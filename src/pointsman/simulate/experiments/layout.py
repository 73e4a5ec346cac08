"""Results as tables of text, for the terminal and the page alike."""

from collections.abc import Iterable, Sequence

import msgspec

from pointsman.config.experiment import TableSpec
from pointsman.observe.columns import TIE
from pointsman.simulate.experiments.figures import Figure, best_of, figure
from pointsman.simulate.experiments.results import Results, Row

BOUNDS = {"below": "< ", "above": "> "}
Place = tuple[str, float | None]


class Cell(msgspec.Struct, frozen=True):
    """What stands in it; `best`: of its column, or tied with that."""

    text: str
    best: bool = False


class Sheet(msgspec.Struct, frozen=True):
    """A table: the heading of each column, the first of them for names, and its lines."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]


def sheets(spec: TableSpec, results: Results) -> list[Sheet]:
    """The tables that are asked for, without those that nothing stands in."""
    rows = [row for row in results.rows if spec.scene in row.scene]
    if spec.by == "figure":
        return [sheet for name in spec.figures if (sheet := _by_figure(name, rows)).lines]
    places = dict.fromkeys(_place(row) for row in rows)
    found = (_by_scene(place, spec.figures, [row for row in rows if _place(row) == place]) for place in places)
    return [sheet for sheet in found if len(sheet.head) > 1]


def _by_scene(place: Place, names: Sequence[str], rows: Sequence[Row]) -> Sheet:
    measured = [name for name in names if any(name in row.figures for row in rows)]
    columns = [_column(name, rows) for name in measured]
    return Sheet(title(place), ("policy", *(heading(figure(name)) for name in measured)), _lines(columns))


def _by_figure(name: str, rows: Sequence[Row]) -> Sheet:
    with_it = [row for row in rows if name in row.figures]
    places = list(dict.fromkeys(_place(row) for row in with_it))
    columns = [_column(name, [row for row in with_it if _place(row) == place]) for place in places]
    return Sheet(heading(figure(name)), ("policy", *(title(place) or "value" for place in places)), _lines(columns))


def _lines(columns: Sequence[dict[str, Cell]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    policies = dict.fromkeys(name for column in columns for name in column)
    return tuple((name, tuple(column.get(name, Cell("–")) for column in columns)) for name in policies)


def _column(name: str, rows: Iterable[Row]) -> dict[str, Cell]:
    """One figure of every policy. Who left more unanswered than others is not among the best of anything else."""
    kind, rows = figure(name), list(rows)
    served = {row.policy for row in rows if row.figures.get("success", 1.0) >= (1 - TIE) * _most_served(rows)}
    values = {row.policy: row.figures[name] for row in rows if name in row.figures and row.policy in served}
    best = best_of(values, kind.better)
    return {row.policy: Cell(_text(row, name, kind), row.policy in best) for row in rows}


def _most_served(rows: Iterable[Row]) -> float:
    return max((row.figures["success"] for row in rows if "success" in row.figures), default=0.0)


def _text(row: Row, name: str, kind: Figure) -> str:
    """The mean, and half the width of its interval where that shows."""
    text = BOUNDS.get(row.bounds.get(name, ""), "") + kind.text(row.figures.get(name))
    if name not in row.spans:
        return text
    low, high = row.spans[name]
    half = kind.text((high - low) / 2)
    return f"{text} ±{half}" if float(half) else text


def heading(kind: Figure) -> str:
    """Its name, its unit, and which way is better."""
    arrow = {"lower": "↓", "higher": "↑", "": ""}[kind.better]
    return " ".join(part for part in (kind.heading, kind.unit and f"({kind.unit})", arrow) if part)


def title(place: Place) -> str:
    """A scene, and the load if there is one."""
    scene, load = place
    return ", ".join(part for part in (scene, "" if load is None else f"load {load:g}") if part)


def _place(row: Row) -> Place:
    return row.scene, row.load
