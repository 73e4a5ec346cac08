"""Bars of what experiments measured."""

import re

import pytest

from pointsman.simulate.experiments.charts import alone
from pointsman.simulate.experiments.results import Results, Row

pytest.importorskip("matplotlib")

ROWS = (
    Row("one", "a", {"in_slo": 0.5}, spans={"in_slo": (0.4, 0.6)}),
    Row("one", "b", {"in_slo": 0.9}),
    Row("two", "b", {"in_slo": 0.1}),
    Row("two", "b", {"rate_at_90": 4.0}),
)


def test_every_scene_that_has_the_figure_is_a_panel_with_the_same_policies() -> None:
    text = alone("in_slo", Results("x", False, {}, ROWS), "b")
    told = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    assert [word for word in told if word in ("one", "two", "a", "b")] == ["a", "b", "one", "two"]
    assert "in SLO (%) ↑" in told


def test_equal_results_give_equal_figures() -> None:
    results = Results("x", False, {}, ROWS)
    assert alone("in_slo", results, "b") == alone("in_slo", results, "b") != alone("in_slo", results, "a")


def test_a_rate_beyond_all_that_was_tried_is_marked() -> None:
    rows = tuple(Row("", each, {"rate_at_90": 4.0}, bounds={"rate_at_90": each}) for each in ("below", "above"))  # type: ignore[dict-item]
    text = alone("rate_at_90", Results("x", False, {}, rows), "")
    assert "> &lt;</text>" in text
    assert "> &gt;</text>" in text
