from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.small_views import FEW_NODES, views

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.request import Request
from pointsman.brain.policies.fastest_completion import FastestCompletion

REQUEST = Request(id="r", model="m", prompt_tokens=1000.0)


FLAT = {"prefill_base": [0.0] * 2, "tpot_base": [0.0] * 2, "tpot_per_sequence": [0.0] * 2, "output_tokens": 0.0}
"""Prefill at 1e-4 s per token is all that counts; there are two nodes."""

SATURATED = {"backlog_tokens": [30_000.0, 40_000.0]}  # 3 and 4 s


def test_cost_by_hand(choose: Any) -> None:
    choice = choose(
        "fastest_completion",
        overlap=[200.0],
        outstanding=[4.0],
        running=[3.0],
        backlog_tokens=[5000.0],
        context_tokens=[8000.0],
        tpot_per_context=[1e-6],
    )
    prefill = 0.01 + 800 * 1e-4
    member = 1e-4 + 1e-6 * (1000 + 50)
    tpot = 0.02 + 4 * 1e-4 + 8000 * 1e-6 + member
    harm = 4 * (800 * 1e-4 + 50 * member)
    assert choice.scores == pytest.approx([0.5 + prefill + 0.1 * (100 * tpot + harm)])


def test_goes_to_the_cache_while_waiting_there_costs_less_than_recomputing(choose: Any) -> None:
    assert choose("fastest_completion", **FLAT, overlap=[900.0, 0.0], backlog_tokens=[800.0, 0.0]).index == 0
    assert choose("fastest_completion", **FLAT, overlap=[900.0, 0.0], backlog_tokens=[1000.0, 0.0]).index == 1


def test_prefill_harms_those_who_decode(choose: Any) -> None:
    assert choose("fastest_completion", **FLAT, overlap=[80.0, 0.0], outstanding=[1.0, 0.0]).index == 1
    assert choose("fastest_completion", **FLAT, overlap=[100.0, 0.0], outstanding=[1.0, 0.0]).index == 0


def test_seconds_between_tokens_can_count_for_more_or_less(choose: Any) -> None:
    columns = {**FLAT, "overlap": [300.0, 0.0], "outstanding": [1.0, 0.0]}
    assert choose("fastest_completion", {"decoding": 1.0}, **columns).index == 1
    assert choose("fastest_completion", {"decoding": 0.25}, **columns).index == 0


def test_faster_decoding_wins_long_answers(choose: Any) -> None:
    columns = {"tpot_base": [0.02, 0.01], "prefill_base": [0.01, 0.5], "overlap": [0.0, 0.0]}
    assert choose("fastest_completion", **columns, output_tokens=10.0).index == 0
    assert choose("fastest_completion", **columns, output_tokens=1000.0).index == 1


def test_full_memory_is_a_wait_until_blocks_free(choose: Any) -> None:
    choice = choose("fastest_completion", **FLAT, kv_reserved=[1000.0, 0.0], service_seconds=[8.0, 8.0])
    assert choice.index == 1
    assert choice.scores[0] - choice.scores[1] == pytest.approx(1000 / 16_000 * 8.0)


def test_eviction_costs_what_it_may_have_to_recompute(choose: Any) -> None:
    choice = choose("fastest_completion", **FLAT, kv_cached=[1000.0, 0.0])
    assert choice.scores[0] - choice.scores[1] == pytest.approx(0.1 * 1000 * 1e-4)


def test_equal_rates_mean_least_work(choose: Any) -> None:
    assert choose("fastest_completion", outstanding=[3.0, 1.0, 2.0], running=[3.0, 1.0, 2.0]).index == 1
    assert choose("fastest_completion", backlog_tokens=[30.0, 10.0, 0.0]).index == 2


def test_holds_only_when_every_wait_is_above_the_bound(choose: Any) -> None:
    assert isinstance(choose("fastest_completion", **SATURATED), Hold)
    assert isinstance(choose("fastest_completion", {"hold_above": 3.5}, **SATURATED), Choice)
    assert isinstance(choose("fastest_completion", {"late_binding": False}, **SATURATED), Choice)
    assert isinstance(choose("fastest_completion", backlog_tokens=[1e6, 0.0]), Choice)


def test_open_node_elsewhere_does_not_stop_waiting_at_the_cache(choose: Any) -> None:
    columns = {"overlap": [90_000.0, 0.0], "prompt_tokens": 1e5, "kv_capacity": [np.inf] * 2}
    assert choose("fastest_completion", **columns, backlog_tokens=[30_000.0, 0.0]).index == 0


def test_gateways_share_the_bound(choose: Any) -> None:
    assert isinstance(choose("fastest_completion", {"hold_above": 7.0}, **SATURATED, gateways=2), Choice)
    assert isinstance(choose("fastest_completion", {"hold_above": 7.0}, **SATURATED, gateways=3), Hold)


def test_doubted_figures_are_not_waited_for(choose: Any) -> None:
    assert isinstance(choose("fastest_completion", **SATURATED, prediction_error=[2.0, 0.0]), Choice)
    assert isinstance(choose("fastest_completion", **SATURATED, prediction_error=[0.3, 2.0]), Hold)


def test_decode_cap_shuns_full_nodes_then_holds(choose: Any) -> None:
    cap = {"decode_cap": 4}
    assert choose("fastest_completion", cap, outstanding=[4.0, 3.0], overlap=[1000.0, 0.0]).index == 1
    assert isinstance(choose("fastest_completion", cap, outstanding=[4.0, 4.0]), Hold)


def test_freed_node_goes_to_the_ticket_that_has_its_cache_there(make_view: Any) -> None:
    freed = {"backlog_tokens": [0.0, 40_000.0]}
    views = [
        make_view(**freed, overlap=[0.0, 0.0]),
        make_view(**freed, overlap=[900.0, 0.0]),
        make_view(**freed, overlap=[0.0, 900.0]),
    ]
    assert FastestCompletion().pick([REQUEST] * 3, views) == 1


def test_only_node_with_room_goes_to_the_ticket_that_has_its_cache_there(make_view: Any) -> None:
    views = [make_view(nodes=[3], overlap=[overlap]) for overlap in (0.0, 500.0, 900.0, 100.0)]
    assert FastestCompletion().pick([REQUEST] * 4, views) == 2


def test_ticket_that_rather_waits_for_its_cache_lets_others_pass(make_view: Any) -> None:
    freed = {"backlog_tokens": [0.0, 40_000.0], "prompt_tokens": 1e5, "kv_capacity": [np.inf] * 2}
    views = [make_view(**freed, overlap=[0.0, 1e5]), make_view(**freed, overlap=[0.0, 0.0])]
    assert FastestCompletion().pick([REQUEST] * 2, views) == 1


def test_none_open_or_all_equal_then_the_head(make_view: Any) -> None:
    policy = FastestCompletion()
    assert policy.pick([REQUEST] * 2, [make_view(**SATURATED), make_view(**SATURATED)]) == 0
    assert policy.pick([REQUEST] * 2, [make_view(outstanding=[0.0]), make_view(outstanding=[0.0])]) == 0


@pytest.mark.parametrize("policy", [FastestCompletion(), FastestCompletion(late_binding=False, decoding=1.0)])
@given(nodes=FEW_NODES, share=st.floats(0.0, 1.0), prompt=st.integers(1, 10**6))
def test_few_candidates_are_chosen_among_as_many_are(
    policy: FastestCompletion, nodes: list[dict[str, float]], share: float, prompt: int
) -> None:
    few, all_ = (policy.choose(REQUEST, view) for view in views(nodes, share, prompt))
    assert (type(few), few.reason, few.scores.tolist()) == (type(all_), all_.reason, all_.scores.tolist())
    assert not isinstance(few, Choice) or few.index == all_.index  # type: ignore[union-attr]
