"""Formulas say the same of one candidate and of all, to the last bit."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model import quantities
from pointsman.brain.model.quantities import FEW, at_least, at_most_one, rounded_up
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Cells, View
from pointsman.brain.policies.registry import build

AMOUNTS = st.floats(0.0, 1e6)
POSITIVE = st.sampled_from([1.0, 16.0, 64.0, 1e5, inf])
NODE = st.fixed_dictionaries(
    {
        "outstanding": AMOUNTS,
        "running": AMOUNTS,
        "slots": st.floats(1.0, 512.0),
        "kv_capacity": POSITIVE,
        "kv_reserved": AMOUNTS,
        "block_tokens": st.floats(1.0, 64.0),
        "backlog_tokens": AMOUNTS,
        "reported_load": st.floats(0.0, 2.0),
        "prefill_base": st.floats(0.0, 1.0),
        "prefill_per_token": st.floats(0.0, 1e-2),
        "prefill_per_pair": st.floats(0.0, 1e-6),
    }
)


def views(nodes: list[dict[str, float]], share: float, prompt: int) -> tuple[View, View]:
    """The same view with and without the cells that let it be read candidate by candidate."""
    cells = Cells(len(nodes))
    for row, node in enumerate(nodes):
        for name, amount in node.items():
            getattr(cells, name)[row] = amount
    rows = np.arange(len(nodes))
    depths = [share * prompt * (row % 2) for row in range(len(nodes))]
    given: dict[str, Any] = {"overlap": depths, "prompt_tokens": prompt, "output_tokens": 50, "whole": True}
    return View(cells.columns(), rows, cells=cells, **given), View(cells.columns(), rows, **given)


@pytest.mark.parametrize("name", ["backlog_seconds", "prefill_seconds", "load", "blocks_needed"])
@given(nodes=st.lists(NODE, min_size=1, max_size=FEW), share=st.floats(0.0, 1.0), prompt=st.integers(1, 10**6))
def test_a_formula_says_the_same_of_each_candidate_and_of_all(
    name: str, nodes: list[dict[str, float]], share: float, prompt: int
) -> None:
    few, all_ = views(nodes, share, prompt)
    formula: Callable[[Any], Any] = getattr(quantities, name)
    assert few.each(formula).tolist() == all_.each(formula).tolist() == getattr(all_, name).tolist()
    assert few.each(lambda node: getattr(node, name)).tolist() == getattr(few, name).tolist()


@pytest.mark.parametrize("parameters", [{}, {"variant": "seed"}])
@given(nodes=st.lists(NODE, min_size=1, max_size=FEW), share=st.floats(0.0, 1.0), prompt=st.integers(1, 10**6))
def test_a_rule_chooses_alike_one_by_one_and_in_arrays(
    parameters: dict[str, str], nodes: list[dict[str, float]], share: float, prompt: int
) -> None:
    policy: Any = build("jffc", parameters)
    few, all_ = (policy.choose(Request(id="r", model="m"), view) for view in views(nodes, share, prompt))
    assert few.scores.tolist() == all_.scores.tolist()
    assert (few.index, few.reason) == (all_.index, all_.reason)


def test_many_candidates_are_asked_at_once() -> None:
    view, _ = views([{"slots": 1.0, "kv_capacity": inf, "block_tokens": 16.0}] * (FEW + 1), 0.5, 100)
    asked: list[object] = []
    view.each(lambda node: asked.append(node) or node.overlap)
    assert asked == [view]


def test_limits_take_floats_and_arrays() -> None:
    assert (at_most_one(3.0), at_most_one(0.5), at_least(3.0, 2.0), rounded_up(1.5)) == (1.0, 0.5, 3.0, 2.0)
    three = np.array([1.0, 2.5, 3.0])
    assert at_most_one(three - 0.5).tolist() == [0.5, 1.0, 1.0]
    assert at_least(three, np.full(3, 2.0)).tolist() == [2.0, 2.5, 3.0]
    assert rounded_up(three).tolist() == [1.0, 3.0, 3.0]
