"""The table for people."""

import io

from rich.console import Console

from pointsman.observe.comparison import Sample, Window, figures
from pointsman.observe.table import COLUMNS, cell, comparison_table

WINDOW = Window(0.0, 10.0)
MEASURED = figures("jffc", [Sample(1.0, 1.25, 3.25, True, 100, 25, 21, "a")], WINDOW, {"a": 1.0})


def test_units_are_those_of_the_headings():
    cells = {" ".join(column[0].split()): cell(MEASURED, column) for column in COLUMNS}
    assert cells["success %"] == "100.0"
    assert cells["TTFT P99 s"] == "0.25"
    assert cells["TPOT mean ms"] == "100.0"
    assert cells["token hits %"] == "25.0"


def test_what_nobody_measured_is_a_dash():
    nothing = figures("idle", [], WINDOW, {"a": 1.0})
    assert [cell(nothing, column) for column in COLUMNS[1:]] == ["–"] * 7


def test_the_table_keeps_the_order_given():
    console = Console(file=io.StringIO(), width=140)
    console.print(comparison_table([MEASURED, figures("idle", [], WINDOW, {})], title="t", caption="c"))
    text = console.file.getvalue()
    assert text.index("jffc") < text.index("idle")


def test_nothing_is_cut_off_on_a_narrow_terminal():
    console = Console(file=io.StringIO(), width=80)
    long = figures("least_response_time", [Sample(1.0, 46.25, 55.25, True, 100, 25, 21, "a")], WINDOW, {"a": 1.0})
    console.print(comparison_table([long], title="t", caption="c"))
    text = console.file.getvalue()
    assert "least_response_time" in text
    assert text.count("45.25") == 3
    assert "through-" in text
    assert "lance" in text
    assert "…" not in text
