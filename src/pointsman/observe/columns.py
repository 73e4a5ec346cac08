"""The columns of a comparison, for the terminal and the page alike: what stands in each, and which cell of it is best.

A difference of less than 2 % is smaller than what two equal runs differ by, so all that come as near to the best are
marked with it, and so are those that repeated runs cannot tell from the best. A policy that left requests unanswered is
out of the contest in every column but its success: it would be judged by the easier part of the work.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Literal

import msgspec

from .comparison import Figures

Better = Literal["lower", "higher"]
Names = frozenset[str]
Alike = Callable[[str, str], bool]
"""Whether nobody can tell the one's figure from the other's, by their names."""

TIE = 0.02
ARROWS = "↓ lower is better, ↑ higher is better."


class Column(msgspec.Struct, frozen=True):
    """One figure. `heading`: two lines for narrow columns; `better`: None where neither more nor less is good."""

    heading: tuple[str, str]
    unit: str
    figure: Callable[[Figures], float | None]
    form: str
    better: Better | None = None

    @property
    def measure(self) -> str:
        """The unit, and as an arrow which way is better."""
        return self.unit + {"lower": " ↓", "higher": " ↑", None: ""}[self.better]


def named(field: str, scale: float = 1.0) -> Callable[[Figures], float | None]:
    """Reads a field, which only some kinds of figures may have, in other units perhaps."""
    read = attrgetter(field)

    def figure(row: Figures) -> float | None:
        value = read(row)
        return None if value is None else scale * value

    return figure


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


SUCCESS = Column(("success", ""), "%", lambda f: _percent(f.success), ".1f", "higher")
COLUMNS = (
    Column(("through-", "put"), "per s", lambda f: f.throughput_rps, ".2f", "higher"),
    SUCCESS,
    Column(("TTFT", "mean"), "s", lambda f: f.ttft_mean_s, ".2f", "lower"),
    Column(("TTFT", "P50"), "s", lambda f: f.ttft_p50_s, ".2f", "lower"),
    Column(("TTFT", "P99"), "s", lambda f: f.ttft_p99_s, ".2f", "lower"),
    Column(("TPOT", "mean"), "ms", lambda f: None if f.tpot_mean_s is None else 1000 * f.tpot_mean_s, ".1f", "lower"),
    Column(("token", "hits"), "%", lambda f: _percent(f.hit_ratio), ".1f", "higher"),
    Column(("imba-", "lance"), "CV", lambda f: f.imbalance, ".2f"),
)


class Cell(msgspec.Struct, frozen=True):
    """One figure as shown. `span`: its interval, "" where runs were not repeated."""

    text: str
    best: bool = False
    span: str = ""


class Row(msgspec.Struct, frozen=True):
    """One policy's cells, one a column."""

    name: str
    cells: tuple[Cell, ...]


def rows_of(rows: Sequence[Figures], columns: Sequence[Column] = COLUMNS) -> list[Row]:
    """What a table shows of runs made once."""
    winners = [best(rows, column) for column in columns]
    return [
        Row(row.name, tuple(Cell(cell(row, column), row.name in names) for column, names in _pairs(columns, winners)))
        for row in rows
    ]


def cell(row: Figures, column: Column) -> str:
    """What stands in that column; a figure nobody measured is a dash."""
    value = column.figure(row)
    return "–" if value is None else format(value, column.form)


def best(rows: Sequence[Figures], column: Column, alike: Alike = lambda _one, _other: False) -> Names:
    """Names of the rows that are best in `column`; none when all are alike, or neither more nor less is better."""
    values = _values(rows if column is SUCCESS else _served(rows), column)
    if column.better is None or not values:
        return frozenset()
    first = (max if column.better == "higher" else min)(values, key=values.__getitem__)
    names = _near(values, column.better) | {name for name in values if name != first and alike(name, first)}
    return frozenset() if len(names) == len(rows) else names


def _served(rows: Sequence[Figures]) -> list[Figures]:
    answered = _near(_values(rows, SUCCESS), "higher")
    return [row for row in rows if row.name in answered]


def _values(rows: Sequence[Figures], column: Column) -> dict[str, float]:
    return {row.name: value for row in rows if (value := column.figure(row)) is not None}


def _near(values: dict[str, float], better: Better) -> Names:
    """Those within the tie of the best value; values are not negative."""
    if better == "higher":
        return frozenset(name for name, value in values.items() if value >= max(values.values()) * (1 - TIE))
    return frozenset(name for name, value in values.items() if value <= min(values.values()) * (1 + TIE))


def _pairs(columns: Sequence[Column], winners: Sequence[Names]) -> list[tuple[Column, Names]]:
    return list(zip(columns, winners, strict=True))
