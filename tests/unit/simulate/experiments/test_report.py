"""The HTML page of an experiment."""

import pytest

from pointsman.config.experiment import Claim, Paper, TableSpec
from pointsman.simulate.experiments.report import report
from pointsman.simulate.experiments.results import Results, Row

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def test_question_claims_figures_and_tables_are_on_it() -> None:
    claim = Claim(says="a < b", figure="in_slo", policy="a", over="b", at_most=1.0)
    table = (TableSpec(figures=("in_slo",)),)
    paper = Paper(title="T & U", question="Q?", settings={}, table=table, claim=(claim,), chart=("in_slo",))
    rows = (Row("here", "a", {"in_slo": 0.5}, spans={"in_slo": (0.4, 0.6)}), Row("here", "b", {"in_slo": 0.4}))
    page = report(paper, Results("x", True, {"here": ["Two nodes."]}, rows))
    assert "<h1>T &amp; U</h1>" in page
    assert "a &lt; b" in page
    assert "<b>does not hold</b>, here: 50.0 / 40.0 = 1.25 ×" in page
    assert page.count("<svg") == 1
    assert "±10.0" in page
    assert all(word in page for word in ("Q?", "quick version", "Two nodes."))
