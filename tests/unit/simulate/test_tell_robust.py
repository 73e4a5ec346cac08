"""What is told of robustness."""

import io
import json

import msgspec
from rich.console import Console
from tests.support.measured import measured

from pointsman.simulate.robustness import CONDITIONS, Agreement, Held
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.tell_robust import headings, robust_json, robust_notes, rows_of, tell_robust

SURE = tuple(Agreement(figure, 0.95, 0.0, ("jffc",)) for figure in ("goodput", "TTFT mean", "TTFT P99"))
LOST = (Agreement("goodput", None, 0.25, ("session",)), *SURE[1:])
RESULTS = (PolicyRuns("jffc", (measured("jffc"),)),)
HELD = [Held(CONDITIONS[0], RESULTS, LOST), Held(CONDITIONS[1], RESULTS, SURE)]


def test_a_row_a_condition_marked_where_the_best_is_still_to_be_trusted() -> None:
    first, second = rows_of(HELD)
    assert first.name == "steps 20 % slower"
    assert [(cell.text, cell.best) for cell in first.cells[:4]] == [
        ("–", False),
        ("25.0", False),
        ("0.95", False),
        ("0.0", True),
    ]
    assert second.cells[1].best
    assert len(first.cells) == len(headings())


def test_what_it_says_is_said() -> None:
    said = robust_notes(HELD)
    assert said[0] == "The policy best in goodput is beaten by more than 2% with steps 20 % slower."
    assert said[1] == "The policy best in TTFT mean stays the best, or within 2% of it, under every condition."
    assert "It needs 8 policies at least; here there are 1." in said[3]


def test_the_table_fits_a_terminal() -> None:
    out = Console(file=io.StringIO(), width=80)
    tell_robust(HELD, out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "steps 20 % faster" in text
    assert "…" not in text


def test_json_has_every_condition_with_its_policies() -> None:
    first, second = json.loads(msgspec.json.encode(robust_json(HELD)))
    assert (first["condition"], second["figures"][0]["tau"]) == ("steps 20 % slower", 0.95)
    assert [policy["name"] for policy in first["policies"]] == ["jffc"]
