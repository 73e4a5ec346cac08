"""The rule says the same of candidates one by one and of all, to the last bit; `test_jffc.py` says what."""

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.request import Request
from pointsman.brain.model.view import FEW, Cells, View
from pointsman.brain.policies.registry import build

REQUEST = Request(id="r", model="m")
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


@pytest.mark.parametrize("parameters", [{}, {"variant": "seed"}, {"w_affinity": 0.0, "forward_below": 5.0}])
@given(nodes=st.lists(NODE, min_size=1, max_size=FEW), share=st.floats(0.0, 1.0), prompt=st.integers(1, 10**6))
def test_a_rule_chooses_alike_one_by_one_and_in_arrays(
    parameters: dict[str, Any], nodes: list[dict[str, float]], share: float, prompt: int
) -> None:
    policy: Any = build("jffc", parameters)
    small, large = views(nodes, share, prompt)
    assert (small.is_small, large.is_small) == (True, False)
    few, all_ = (policy.choose(REQUEST, view) for view in (small, large))
    assert few.scores.tolist() == all_.scores.tolist() == policy.score(REQUEST, small).tolist()
    assert (few.index, few.reason) == (all_.index, all_.reason)


def test_what_nodes_report_of_their_gpus_is_worked_out_for_few_nodes_too() -> None:
    small, _ = views([{"slots": 1.0, "kv_capacity": inf, "block_tokens": 16.0}] * 2, 0.0, 100)
    small.cells.reported_gpu_busy[0] = 0.9  # type: ignore[union-attr]
    assert build("jffc", {"load_from": "gpu"}).choose(REQUEST, small).index == 1
