"""One policy against the others."""

import pytest

from pointsman.simulate.experiments.champion import against_all, matches
from pointsman.simulate.experiments.results import Row

ROWS = (
    Row("now", "ours", {"success": 1.0, "ttft_mean_s": 2.0, "in_slo": 0.9}),
    Row("now", "a", {"success": 1.0, "ttft_mean_s": 3.0, "in_slo": 0.6}),
    Row("now", "b", {"success": 0.5, "ttft_mean_s": 1.0, "in_slo": 0.4}),
    Row("late", "ours", {"success": 1.0, "ttft_mean_s": 5.0, "in_slo": 0.5}, 0.7),
    Row("late", "a", {"success": 1.0, "ttft_mean_s": 4.0, "in_slo": 0.0}, 0.7),
    Row("alone", "a", {"ttft_mean_s": 4.0}),
)


def test_it_is_compared_with_the_best_other_at_every_place() -> None:
    waits = matches("ours", "ttft_mean_s", ROWS)
    assert [(one.place, one.rival, one.times) for one in waits] == [
        (("now", None), "a", 1.5),  # b leaves half of the requests unanswered
        (("late", 0.7), "a", 0.8),
    ]
    (share,) = matches("ours", "in_slo", ROWS)
    assert share.times == pytest.approx(1.5)


def test_a_line_a_figure_tells_the_worst_and_the_best_of_it() -> None:
    sheet = against_all("ours", ["ttft_mean_s", "busy"], ROWS)
    (row,) = sheet.rows
    assert row.name == "TTFT mean (s) ↓"
    assert [cell.text for cell in row.cells] == ["1 of 2", "1.15", "0.80", "late, load 0.7: a", "1.50", "now: a"]


def test_a_rate_below_all_that_was_tried_is_no_rate() -> None:
    rows = (Row("", "ours", {"rate_at_90": 4.0}), Row("", "a", {"rate_at_90": 5.0}, bounds={"rate_at_90": "below"}))
    assert matches("ours", "rate_at_90", rows) == []
