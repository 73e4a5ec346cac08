"""What the terminal shows."""

import io

from rich.console import Console

from pointsman.config.experiment import Claim, Paper, TableSpec, shipped
from pointsman.simulate.experiments.results import Results, Row
from pointsman.simulate.experiments.tell import listed, tell


def test_all_experiments_are_listed_with_their_question() -> None:
    out = Console(file=io.StringIO(), width=200)
    listed(shipped(), out)
    assert all(name in out.file.getvalue() for name in shipped())  # type: ignore[attr-defined]


def test_tables_then_claims_then_what_was_simulated() -> None:
    claims = (
        Claim(says="a is quick", figure="ttft_mean_s", policy="a", at_most=2.0),
        Claim(says="b is quicker", figure="ttft_mean_s", order=("a", "b")),
    )
    paper = Paper(title="T", question="Q?", settings={}, table=(TableSpec(figures=("ttft_mean_s",)),), claim=claims)
    rows = (Row("here", "a", {"ttft_mean_s": 1.0}), Row("here", "b", {"ttft_mean_s": 3.0}))
    out = Console(file=io.StringIO(), width=100)
    tell(paper, Results("x", True, {"here": ["Two nodes."]}, rows), out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    order = ["Q?", "quick version", "TTFT mean", "3.00", "a is quick", "b is quicker", "Two nodes."]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "holds: 1.00 s (here)" in text
    assert "does not hold: 1.00 ≯ 3.00 s (here)" in text
