"""The columns of a comparison: units, and which cell is called the best."""

import msgspec
import pytest

from pointsman.observe.columns import COLUMNS, best, cell, rows_of
from pointsman.observe.comparison import Sample, Window, figures

WINDOW = Window(0.0, 10.0)
MEASURED = figures("jffc", [Sample(1.0, 1.25, 3.25, True, 100, 25, 21, "a")], WINDOW, {"a": 1.0})
BY_HEADING = {" ".join((*column.heading, column.unit)): column for column in COLUMNS}
TTFT, SUCCESS, HITS = (BY_HEADING[name] for name in ("TTFT mean s", "success  %", "token hits %"))


def row(name, **changes):
    return msgspec.structs.replace(MEASURED, name=name, **changes)


def test_units_are_those_of_the_headings():
    cells = {heading: cell(MEASURED, column) for heading, column in BY_HEADING.items()}
    assert cells["success  %"] == "100.0"
    assert cells["TTFT P99 s"] == "0.25"
    assert cells["TPOT mean ms"] == "100.0"
    assert cells["token hits %"] == "25.0"


def test_what_nobody_measured_is_a_dash():
    nothing = figures("idle", [], WINDOW, {"a": 1.0})
    assert [cell(nothing, column) for column in COLUMNS[1:]] == ["–"] * 7


@pytest.mark.parametrize(
    ("values", "expected"),
    [((1.0, 2.0, 3.0), {"a"}), ((1.0, 1.019, 3.0), {"a", "b"}), ((1.0, 1.021, 3.0), {"a"}), ((None, 2.0, 3.0), {"b"})],
)
def test_the_lowest_is_best_with_those_within_two_per_cent(values, expected):
    assert best([row(name, ttft_mean_s=value) for name, value in zip("abc", values, strict=True)], TTFT) == expected


def test_the_highest_is_best_where_more_is_better():
    assert best([row("a", hit_ratio=0.5), row("b", hit_ratio=0.7), row("c", hit_ratio=0.69)], HITS) == {"b", "c"}


def test_who_cannot_be_told_from_the_best_is_best_too():
    rows = [row(name, ttft_mean_s=value) for name, value in zip("abc", (1.0, 1.2, 1.3), strict=True)]
    assert best(rows, TTFT, lambda one, other: (one, other) == ("b", "a")) == {"a", "b"}
    assert best(rows, TTFT, lambda one, other: (one, other) == ("c", "b")) == {"a"}


def test_rows_hold_every_cell_and_mark_the_best():
    first, second = rows_of([row("a", ttft_mean_s=1.0), row("b", ttft_mean_s=2.0)])
    place = COLUMNS.index(TTFT)
    assert (first.name, first.cells[place].text, first.cells[place].best) == ("a", "1.00", True)
    assert not second.cells[place].best


def test_where_all_are_alike_none_is_best():
    rows = [row("a"), row("b")]
    assert [best(rows, column) for column in COLUMNS] == [frozenset()] * len(COLUMNS)
    assert best([row("a", ttft_mean_s=None)], TTFT) == frozenset()


def test_who_left_requests_unanswered_is_not_called_fast():
    rows = [row("a", success=0.8, ttft_mean_s=0.1), row("b", ttft_mean_s=0.5), row("c", ttft_mean_s=0.9)]
    assert best(rows, TTFT) == {"b"}
    assert best(rows, SUCCESS) == {"b", "c"}


def test_imbalance_has_no_best():
    assert best([row("a", imbalance=0.1), row("b", imbalance=0.9)], BY_HEADING["imba- lance CV"]) == frozenset()


def test_the_measure_says_which_way_is_better():
    assert [TTFT.measure, HITS.measure, BY_HEADING["imba- lance CV"].measure] == ["s ↓", "% ↑", "CV"]
