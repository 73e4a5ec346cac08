from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.small_views import FEW_NODES, views

from pointsman.brain.policies.completion_cost import (
    costs_of_few,
    service_and_harm,
    uncached_prefill,
    wait_seconds,
    waits_of_few,
)
from pointsman.brain.policies.window import stacked


def test_waits_for_the_backlog_and_for_blocks(make_view: Any) -> None:
    view = make_view(backlog_tokens=[0.0, 3000.0, 3000.0], kv_reserved=[0.0, 0.0, 980.0], service_seconds=[10.0] * 3)
    missing = 1100.0 - 20 * 16
    assert wait_seconds(view, 1100.0) == pytest.approx([0.0, 0.3, 0.3 + missing / (980 * 16) * 10.0])


def test_reused_blocks_need_no_room_of_their_own_twice(make_view: Any) -> None:
    view = make_view(overlap=[992.0], kv_reserved=[1000.0 - 1100 / 16])
    assert wait_seconds(view, 1100.0).tolist() == [0.0]


def test_whole_prompt_is_what_no_overlap_costs(make_view: Any) -> None:
    cold = make_view(overlap=[0.0, 0.0], prefill_per_pair=[1e-8, 0.0])
    warm = make_view(overlap=[900.0, 10.0], prefill_per_pair=[1e-8, 0.0])
    assert uncached_prefill(warm) == pytest.approx(cold.prefill_seconds)


def test_eviction_counts_no_more_than_is_cached(make_view: Any) -> None:
    def cost(cached: float, reserved: float) -> float:
        view = make_view(kv_cached=[cached], kv_reserved=[reserved])
        return float(service_and_harm(view, 1.0, 1.0)[0] - service_and_harm(view, 1.0, 0.0)[0])

    assert cost(100.0, 0.0) == 0.0
    assert cost(1000.0, 0.0) == pytest.approx(1100 * 1e-4)
    assert cost(10.0, 990.0) == pytest.approx(160 * 1e-4)


def test_harm_grows_with_those_who_share_the_node(make_view: Any) -> None:
    view = make_view(outstanding=[0.0, 1.0, 4.0], running=[0.0, 1.0, 4.0])
    decoding = service_and_harm(view, 1.0, 0.0) - service_and_harm(view, 0.0, 0.0)
    own = 100 * (0.02 + 1e-4)
    each = 0.5 * 100 * 1e-4 + 0.10 + 100 * 1e-4  # without the base of 0.01: it is no work
    assert decoding == pytest.approx([own, own + each, own + 4 * each])


def test_stacked_view_gives_each_tickets_row(make_view: Any) -> None:
    state = {"outstanding": [1.0, 5.0], "running": [1.0, 2.0], "kv_reserved": [990.0, 0.0], "kv_cached": [5.0, 1000.0]}
    views = [
        make_view(**state, overlap=overlap, prompt_tokens=prompt, output_tokens=output)
        for overlap, prompt, output in (([0.0, 500.0], 900.0, 10.0), ([50.0, 0.0], 4000.0, 300.0))
    ]
    together = service_and_harm(stacked(views), 1.0, 0.1)
    np.testing.assert_allclose(together, [service_and_harm(view, 1.0, 0.1) for view in views])
    waits = wait_seconds(stacked(views), 4300.0)
    np.testing.assert_allclose(waits, [wait_seconds(view, 4300.0) for view in views])


@given(nodes=FEW_NODES, share=st.floats(0.0, 1.0), prompt=st.integers(1, 10**6))
def test_a_few_are_worked_out_one_by_one_to_the_last_bit_alike(
    nodes: list[dict[str, float]], share: float, prompt: int
) -> None:
    few, all_ = views(nodes, share, prompt)
    waits = wait_seconds(all_, prompt + 50)
    assert waits_of_few(few) == waits.tolist()
    assert costs_of_few(few, waits.tolist(), 0.1, 0.2) == (service_and_harm(all_, 0.1, 0.2) + waits).tolist()
