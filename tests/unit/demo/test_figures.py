"""Figures of memory: who was answered in time, and how fast the slowest streams ran."""

import pytest

from pointsman.demo.figures import MEMORY_COLUMNS, figures
from pointsman.observe.columns import cell
from pointsman.observe.comparison import Sample, Window

WINDOW = Window(10.0, 20.0)


def asked(sent, ttft, tpot, ok=True):
    return Sample(sent, sent + ttft, sent + ttft + 100 * tpot, ok, 50, 10, 101, "a")


def test_goodput_counts_those_in_time_among_those_of_the_window():
    samples = [
        asked(9.0, 1, 0.02),
        asked(11.0, 1, 0.02),
        asked(12.0, 6, 0.02),
        asked(13.0, 1, 0.2),
        asked(14.0, 2, 0.1),
    ]
    one = figures("greedy", [*samples, asked(15.0, 1, 0.02, ok=False)], WINDOW, {"a": 1.0}, preemptions=7)
    assert one.goodput_rps == pytest.approx(0.2)
    assert one.in_slo == pytest.approx(0.4)
    assert one.tpot_p99_s == pytest.approx(0.2, rel=0.02)
    assert one.preemptions == 7


def test_every_column_can_be_told_even_of_nothing():
    nothing = figures("greedy", [], WINDOW, {"a": 1.0})
    assert [cell(nothing, column) for column in MEMORY_COLUMNS] == ["0", "–", "0.000", "–", "–", "–", "–", "–"]
