from typing import Any

import numpy as np

from pointsman.brain.model import facts
from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.columns import Cells
from pointsman.brain.model.milestones import Decided, Ended, FirstToken, Placed
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View

COMMON: dict[str, Any] = {"now": 1.5, "ticket": 2, "request": Request(id="r", model="m")}
TRY: dict[str, Any] = {**COMMON, "lease": 3, "node": "a"}


def test_they_are_facts_like_all_others() -> None:
    assert {Decided, Ended, FirstToken, Placed} <= set(facts.Fact.__args__)


def test_they_hold_what_they_are_given() -> None:
    view = View(Cells(1).columns(), np.arange(1), overlap=[0.0], prompt_tokens=8, output_tokens=1)
    choice: dict[str, Any] = {"policy": "p", "view": view, "answer": Choice(0, np.zeros(1), "x")}
    sent: dict[str, Any] = {"attempt": 1, "waited_s": 0.5, "prompt_tokens": 8, "overlap_tokens": 4, "reason": "x"}
    end: dict[str, Any] = {"outcome": Outcome(verdict=Verdict.OK), "seconds": 2.0, "whole_s": 2.5, "tpot_s": None}
    end |= {"overlap_tokens": 4, "final": True, "tokens": 5}
    for kind, given in ((Decided, COMMON | choice), (Placed, TRY | sent), (Ended, TRY | end)):
        fact: Any = kind
        made = fact(**given)
        assert {name: getattr(made, name) for name in given} == given
    assert FirstToken(1.5, 2, 3, COMMON["request"], "a", 0.25).ttft_s == 0.25


def test_a_decision_tells_its_answer() -> None:
    view = View(Cells(1).columns(), np.arange(1), overlap=[0.0], prompt_tokens=8, output_tokens=1)
    placed, held = (
        Decided(**COMMON, policy="p", view=view, answer=one) for one in (Choice(0, [2.0], "x"), Hold([3.0], "y"))
    )
    assert (placed.chosen, placed.reason, placed.scores.tolist()) == (0, "x", [2.0])
    assert (held.chosen, held.reason, held.scores.tolist()) == (-1, "y", [3.0])
