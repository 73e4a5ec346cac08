from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import LATER, NEVER, NOW
from pointsman.brain.policies.registry import build

REQUESTS = [Request(id=str(number), model="m") for number in range(3)]


def test_cached_blocks_are_not_paid_again(choose: Any) -> None:
    choice = choose("greedy", overlap=[0.0, 640.0], outstanding=[0.0, 4.0])
    assert choice.scores.tolist() == [69 * 16 * 1.0, 29 * 16 * 1.5]
    assert (choice.index, choice.reason) == (1, "fits")


def test_a_node_it_fits_goes_before_one_of_more_utility_that_is_full(choose: Any) -> None:
    choice = choose("greedy", overlap=[0.0, 960.0], kv_reserved=[900.0, 0.0], kv_capacity=[1000.0, 60.0])
    assert choice.index == 0
    assert choice.scores[1] > choice.scores[0]


def test_what_fits_nowhere_waits_unless_it_never_will(choose: Any) -> None:
    assert isinstance(choose("greedy", kv_reserved=[990.0, 980.0]), Hold)
    oversized = choose("greedy", kv_reserved=[40.0, 30.0], kv_capacity=[68.0, 60.0])
    assert isinstance(oversized, Choice)
    assert oversized.reason == "oversized"


def test_a_prefix_that_leaves_no_room_beside_it_is_not_waited_for(choose: Any) -> None:
    assert choose("greedy", overlap=[1000.0], kv_capacity=[65.0]).reason == "oversized"


def test_long_requests_pay_more_for_each_token(choose: Any) -> None:
    short = {"prompt_tokens": 900.0, "output_tokens": 100.0}
    long = {"prompt_tokens": 3900.0, "output_tokens": 100.0}
    penal = {"alpha": 2.0, "threshold": 2000.0}
    assert choose("greedy", penal, **short).scores.tolist() == choose("greedy", **short).scores.tolist()
    assert choose("greedy", penal, **long).scores == pytest.approx(4.0 * choose("greedy", **long).scores)


@pytest.mark.parametrize(
    ("prompts", "priorities", "alpha", "picked"),
    [
        ((500.0, 300.0, 400.0), (1.0, 1.0, 1.0), 0.0, 1),
        ((500.0, 300.0, 400.0), (2.0, 1.0, 1.0), 0.0, 0),
        ((12_000.0, 300.0, 900.0), (45.0, 1.0, 1.0), 0.0, 0),
        ((12_000.0, 300.0, 900.0), (45.0, 1.0, 1.0), 1.0, 1),
        ((300.0, 300.0, 300.0), (1.0, 1.0, 1.0), 0.0, 0),
    ],
)
def test_who_is_worth_most_for_his_memory_goes_next(
    make_view: Any, prompts: tuple[float, ...], priorities: tuple[float, ...], alpha: float, picked: int
) -> None:
    both = zip(prompts, priorities, strict=True)
    views = [make_view(prompt_tokens=prompt, priority=priority, output_tokens=0.0) for prompt, priority in both]
    assert build("greedy", {"alpha": alpha, "threshold": 1000.0}).pick(REQUESTS, views) == picked


def test_who_fits_goes_before_who_does_not(make_view: Any) -> None:
    views = [make_view(prompt_tokens=prompt, kv_reserved=[970.0, 950.0]) for prompt in (5000.0, 600.0, 100.0)]
    views[0].priority = 1000.0
    assert build("greedy").pick(REQUESTS, views) == 2
    assert build("greedy").pick(REQUESTS[:2], views[:2]) == 1
    assert build("greedy").pick(REQUESTS[:1], views[:1]) == 0


def test_memory_in_one_piece_is_asked_for_where_an_engine_needs_it(choose: Any) -> None:
    assert choose("greedy", outstanding=[0.0, 4.0], places=np.array([LATER, NOW])).index == 1
    assert isinstance(choose("greedy", outstanding=[0.0, 4.0], places=np.array([LATER, NEVER])), Hold)
    assert choose("greedy", outstanding=[0.0, 4.0], places=np.array([NEVER, NEVER])).reason == "oversized"


def test_who_waits_goes_by_his_own_places(make_view: Any) -> None:
    views = [make_view(kv_capacity=[1e3, 1e3], places=np.array(places)) for places in ([LATER, LATER], [NEVER, NOW])]
    assert build("greedy").pick(REQUESTS[:2], views) == 1
