"""The table for people."""

import io

from rich.console import Console

from pointsman.observe.columns import Cell, Row, rows_of
from pointsman.observe.comparison import Sample, Window, figures
from pointsman.observe.table import comparison_table

WINDOW = Window(0.0, 10.0)
MEASURED = figures("jffc", [Sample(1.0, 1.25, 3.25, True, 100, 25, 21, "a")], WINDOW, {"a": 1.0})


def test_the_table_keeps_the_order_given():
    console = Console(file=io.StringIO(), width=140)
    console.print(comparison_table(rows_of([MEASURED, figures("idle", [], WINDOW, {})]), title="t", caption="c"))
    text = console.file.getvalue()
    assert text.index("jffc") < text.index("idle")


def test_nothing_is_cut_off_on_a_narrow_terminal():
    console = Console(file=io.StringIO(), width=80)
    long = figures("least_response_time", [Sample(1.0, 46.25, 55.25, True, 100, 25, 21, "a")], WINDOW, {"a": 1.0})
    console.print(comparison_table(rows_of([long]), title="t", caption="c"))
    text = console.file.getvalue()
    assert "least_response_time" in text
    assert text.count("45.25") == 3
    assert "through-" in text
    assert "lance" in text
    assert "…" not in text


def printed(**terminal):
    console = Console(file=io.StringIO(), width=100, **terminal)
    rows = [
        figures(name, [Sample(1.0, 1.0 + first, 3.0, True, 100, 25, 21, "a")], WINDOW, {"a": 1.0})
        for name, first in (("soon", 0.25), ("late", 0.75))
    ]
    console.print(comparison_table(rows_of(rows), title="t", caption="c"))
    return console.file.getvalue()


def test_the_best_is_marked_on_a_terminal_and_no_code_goes_into_a_pipe():
    assert "\x1b[1;4m0.25\x1b[0m" in printed(force_terminal=True, color_system="standard")
    assert "\x1b[1;4m0.75" not in printed(force_terminal=True, color_system="standard")
    assert "\x1b" not in printed()


def test_an_interval_stands_below_its_figure():
    console = Console(file=io.StringIO(), width=100)
    row = Row("jffc", (Cell("1.00", best=True, span="±0.02"), *(Cell("–") for _ in range(7))))
    console.print(comparison_table([row], title="t", caption="c"))
    lines = console.file.getvalue().splitlines()
    (place,) = (number for number, line in enumerate(lines) if "1.00" in line)
    assert lines[place + 1].index("±0.02") + 5 == lines[place].index("1.00") + 4
