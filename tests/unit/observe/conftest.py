"""Facts made by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.facts import Decided, Ended, FirstToken, Placed
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Cells, View
from pointsman.brain.policies.registry import build


def view_of(outstanding: Sequence[float], rows: Sequence[int] | None = None, **rest: Any) -> View:
    """A view of nodes that differ in their outstanding requests only, at the given fleet rows."""
    n = len(outstanding)
    columns = Cells(n if rows is None else max(rows) + 1).columns()
    nodes = np.arange(n) if rows is None else np.array(rows)
    columns.outstanding[nodes] = outstanding
    columns.slots[:] = 64.0
    columns.kv_capacity[:] = np.inf
    columns.block_tokens[:] = 16.0
    given: dict[str, Any] = {"overlap": np.zeros(n), "prompt_tokens": 100.0, "output_tokens": 10.0}
    return View(columns, nodes, **(given | rest))


def decide(name: str = "r1", *, view: View | None = None, hold: bool = False, model: str = "m", **rest: Any) -> Decided:
    """The decision of `least_requests` on `view`, or a hold with the same scores."""
    view = view or view_of([3.0, 1.0, 2.0])
    request = Request(id=name, model=model)
    choice = build("least_requests").choose(request, view)
    assert isinstance(choice, Choice)
    reason = rest.pop("reason", choice.reason)
    answer = Hold(choice.scores, reason) if hold else Choice(choice.index, choice.scores, reason)
    given: dict[str, Any] = {"now": 5.0, "ticket": 1, "policy": "least_requests"}
    return Decided(request=request, view=view, answer=answer, **(given | rest))


class Life:
    """The facts of one lease of a request submitted at 10 s."""

    def __init__(self, lease: int = 1, model: str = "m", node: str = "a", waited_s: float = 0.5) -> None:
        self.waited_s = waited_s
        self.common: dict[str, Any] = {"lease": lease, "node": node, "request": Request(id=f"r{lease}", model=model)}

    def placed(self, **given: Any) -> Placed:
        usual = {"attempt": 1, "prompt_tokens": 100, "overlap_tokens": 40, "reason": "shortest"}
        return Placed(now=10.0 + self.waited_s, ticket=1, waited_s=self.waited_s, **self.common, **(usual | given))

    def first_token(self, ttft_s: float) -> FirstToken:
        return FirstToken(now=10.0 + ttft_s, ticket=1, ttft_s=ttft_s, **self.common)

    def ended(
        self, at: float, *, final: bool = True, tpot_s: float | None = None, tokens: int = 0, **outcome: Any
    ) -> Ended:
        return Ended(
            now=at,
            ticket=1,
            outcome=Outcome(**({"verdict": Verdict.OK} | outcome)),
            seconds=at - 10.0 - self.waited_s,
            whole_s=at - 10.0,
            tpot_s=tpot_s,
            overlap_tokens=40,
            final=final,
            tokens=tokens,
            **self.common,
        )


@pytest.fixture
def make_view() -> Callable[..., View]:
    return view_of


@pytest.fixture
def decided() -> Callable[..., Decided]:
    return decide


@pytest.fixture
def life() -> type[Life]:
    return Life
