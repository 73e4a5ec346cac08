"""The columns of a comparison, for the terminal and the page alike: what stands in each, and which cell of it is best.

A difference of less than 2 % is smaller than what two equal runs differ by, so all that come as near to the best are
marked with it. A policy that left requests unanswered is out of the contest in every column but its success: it would
be judged by the easier part of the work.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from .comparison import Figures

TIE = 0.02
ARROWS = "↓ lower is better, ↑ higher is better."


class Column(msgspec.Struct, frozen=True):
    """One figure. `heading`: two lines for narrow columns; `better`: None where neither more nor less is good."""

    heading: tuple[str, str]
    unit: str
    figure: Callable[[Figures], float | None]
    form: str
    better: Literal["lower", "higher"] | None = None

    @property
    def measure(self) -> str:
        """The unit, and as an arrow which way is better."""
        return self.unit + {"lower": " ↓", "higher": " ↑", None: ""}[self.better]


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


def cell(row: Figures, column: Column) -> str:
    """What stands in that column; a figure nobody measured is a dash."""
    value = column.figure(row)
    return "–" if value is None else format(value, column.form)


def best(rows: Sequence[Figures], column: Column) -> frozenset[str]:
    """Names of the rows that are best in `column`; none when all are alike, or neither more nor less is better."""
    values = _values(rows if column is SUCCESS else _served(rows), column)
    if column.better is None or not values:
        return frozenset()
    names = _near(values, column.better)
    return frozenset() if len(names) == len(rows) else names


def _served(rows: Sequence[Figures]) -> list[Figures]:
    answered = _near(_values(rows, SUCCESS), "higher")
    return [row for row in rows if row.name in answered]


def _values(rows: Sequence[Figures], column: Column) -> dict[str, float]:
    return {row.name: value for row in rows if (value := column.figure(row)) is not None}


def _near(values: dict[str, float], better: Literal["lower", "higher"]) -> frozenset[str]:
    """Those within the tie of the best value; values are not negative."""
    if better == "higher":
        return frozenset(name for name, value in values.items() if value >= max(values.values()) * (1 - TIE))
    return frozenset(name for name, value in values.items() if value <= min(values.values()) * (1 + TIE))
