"""The rule says the same of candidates one by one and of all, to the last bit; `test_jffc.py` says what."""

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.small_views import FEW_NODES, views

from pointsman.brain.model.request import Request
from pointsman.brain.policies.registry import build

REQUEST = Request(id="r", model="m")


@pytest.mark.parametrize("parameters", [{}, {"variant": "seed"}, {"w_affinity": 0.0, "forward_below": 5.0}])
@given(nodes=FEW_NODES, share=st.floats(0.0, 1.0), prompt=st.integers(1, 10**6))
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
