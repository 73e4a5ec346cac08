from typing import Any

import pytest

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.draw import draw
from pointsman.brain.model.request import Request
from pointsman.brain.policies.registry import build

REQUEST = Request(id="r", model="m", prompt_tokens=1000.0)

SATURATED = {"backlog_tokens": [30_000.0, 40_000.0]}  # at 1e-4 s each: 3 and 4 s
CACHED = {"overlap": [900.0, 0.0, 0.0], "outstanding": [4.0, 3.0, 1.0]}


def gated(within: Any, **parameters: Any) -> dict[str, Any]:
    return {"within": within, **parameters}


@pytest.mark.parametrize("within", ["llmd_default", "round_robin", "two_choices", "sglang_cache_aware"])
def test_an_open_fleet_leaves_the_rule_as_it_is(choose: Any, within: str) -> None:
    for number in range(20):
        view = {**CACHED, "draw": draw(1, number), "sequence": number}
        bare, wrapped = choose(within, **view), choose("gated", gated(within), **view)
        assert (wrapped.index, wrapped.reason, wrapped.scores.tolist()) == (
            bare.index, bare.reason, bare.scores.tolist(),
        )  # fmt: skip


def test_nodes_at_the_cap_are_out_of_the_rule(choose: Any) -> None:
    choice = choose("gated", gated("prefix_affinity", decode_cap=4), **CACHED)
    assert isinstance(choice, Choice)
    assert choice.index in (1, 2)
    assert choice.scores.tolist() == [1000.0 + 1.0 + 4.0, 1000.0, 1000.0]


def test_the_rule_sees_only_those_below_the_cap(choose: Any) -> None:
    """Were scores merely masked, llm-d's queue term would still be scaled by the capped node's."""
    columns = {"outstanding": [9.0, 1.0, 1.0], "reported_waiting": [100.0, 10.0, 0.0], "overlap": [0.0, 700.0, 0.0]}
    assert choose("llmd_default", **columns).index == 1
    assert choose("gated", gated("llmd_default"), **columns).index == 1
    choice = choose("gated", gated("llmd_default", decode_cap=9), **columns)
    assert choice.scores[1:] == pytest.approx([-(0.0 + 2.0 + 2.1), -(2.0 + 2.0 + 0.0)])


def test_held_when_every_node_is_at_the_cap_or_has_too_long_a_wait(choose: Any) -> None:
    hold = choose("gated", gated("least_requests", decode_cap=2), outstanding=[3.0, 2.0])
    assert isinstance(hold, Hold)
    assert (hold.reason, hold.scores.tolist()) == ("full", [3.0, 2.0])
    assert isinstance(choose("gated", gated("least_requests"), **SATURATED), Hold)
    assert isinstance(choose("gated", gated("least_requests", hold_above=3.5), **SATURATED), Choice)
    mixed = {"outstanding": [3.0, 1.0], "backlog_tokens": [0.0, 40_000.0]}
    assert isinstance(choose("gated", gated("least_requests", decode_cap=3), **mixed), Hold)


def test_predictions_in_doubt_are_not_waited_for(choose: Any) -> None:
    view = {**SATURATED, "outstanding": [3.0, 2.0], "prediction_error": [0.5, 1.5]}
    assert choose("gated", gated("least_requests", decode_cap=2), **view).index == 1
    assert isinstance(choose("gated", gated("least_requests", doubt_above=2.0), **view), Hold)


def test_a_hold_of_the_rule_itself_stays_one(choose: Any) -> None:
    answer = choose("gated", gated("fastest_free", decode_cap=9), slots=[8.0] * 2, outstanding=[9.0, 8.0])
    assert isinstance(answer, Hold)
    assert answer.scores.tolist() == [10.0, 0.0]


def test_what_the_rule_remembers_comes_through(choose: Any) -> None:
    answer = choose("gated", gated("hybrid", decode_cap=5), outstanding=[7.6, 1.0])
    assert answer.memo == "response"


def test_limits_are_those_of_the_rule(make_view: Any) -> None:
    view = make_view(outstanding=[8.0, 1.0])
    assert build("gated", gated("least_response_time")).within_limits(view).tolist() == [False, True]


def waiting(make_view: Any, outstanding: list[float]) -> list[Any]:
    """Three tickets: the second has most cached by far, and the third alone has its cache on the second node."""
    return [
        make_view(outstanding=outstanding, prompt_tokens=prompt, overlap=overlap)
        for prompt, overlap in ((3000.0, [2000.0, 1900.0]), (9000.0, [8900.0, 0.0]), (4000.0, [0.0, 1000.0]))
    ]


@pytest.mark.parametrize(("order", "next_one"), [("fcfs", 0), ("shortest", 1), ("regret", 1)])
def test_who_waits_goes_in_order(make_view: Any, order: str, next_one: int) -> None:
    policy = build("gated", gated("prefix_affinity", order=order))
    assert policy.pick([REQUEST] * 3, waiting(make_view, [1.0, 1.0])) == next_one


def test_regret_is_for_nodes_that_are_open(make_view: Any) -> None:
    policy = build("gated", gated("prefix_affinity", order="regret", decode_cap=9))
    assert policy.pick([REQUEST] * 3, waiting(make_view, [9.0, 1.0])) == 2


def test_with_one_node_the_oldest_goes(make_view: Any) -> None:
    views = [make_view(prompt_tokens=prompt, overlap=[10.0]) for prompt in (5000.0, 20.0)]
    assert build("gated", {"order": "regret"}).pick([REQUEST] * 2, views) == 0


def test_only_an_order_of_its_own_looks_at_the_window() -> None:
    assert not build("gated").binds_late
    assert build("gated", {"order": "shortest"}).binds_late
