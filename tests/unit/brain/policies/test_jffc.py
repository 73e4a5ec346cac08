import math
from typing import Any

import pytest


def test_the_seeds_formula_by_hand(choose: Any) -> None:
    choice = choose(
        "jffc",
        {"variant": "seed"},
        overlap=[0.0, 500.0],
        outstanding=[4.0, 6.0],
        running=[2.0, 1.0],
        kv_reserved=[250.0, 980.0],
        prefill_base=[0.0, 0.0],
        prefill_per_token=[2e-3, 1e-3],
        output_tokens=0.0,
        ttft_objective=1e9,
    )
    loads = [4 / 8, 980 / 1000]
    first = -0.5 * (0.4 * loads[0] + 0.3 * 2 / 10) + 0.2 * (0.5 * 1.0 + 0.5 * (1 - loads[0]) / 1.0)
    second = (
        -0.5 * (0.4 * loads[1] + 0.3 * 5 / 10)
        + 0.3 * 1.0
        + 0.2 * (0.5 * 20 / math.ceil(500 / 16) + 0.5 * (1 - loads[1]) / 0.5)
    )
    assert choice.scores == pytest.approx([-first, -second])


BUSY_HOLDER = {"outstanding": [0.0, 5.0], "running": [0.0, 0.0], "slots": [8.0, 8.0]}


def test_forwards_to_the_cache(choose: Any) -> None:
    choice = choose("jffc", {"w_affinity": 0.0}, overlap=[0.0, 400.0], **BUSY_HOLDER)
    assert (choice.index, choice.reason) == (1, "forward")
    assert choice.scores[1] > choice.scores[0]


def test_not_to_a_busy_holder(choose: Any) -> None:
    choice = choose("jffc", {"w_affinity": 0.0, "forward_below": 0.6}, overlap=[0.0, 400.0], **BUSY_HOLDER)
    assert (choice.index, choice.reason) == (0, "score")


def test_seed_forwards_below_six_tenths_and_default_below_seven(choose: Any) -> None:
    columns = {**BUSY_HOLDER, "overlap": [0.0, 400.0]}  # the holder's load is 0.625
    assert choose("jffc", {"variant": "seed", "w_affinity": 0.0}, **columns).index == 0
    assert choose("jffc", {"w_affinity": 0.0}, **columns).index == 1


def test_not_for_a_small_share_of_the_prompt(choose: Any) -> None:
    columns = {**BUSY_HOLDER, "overlap": [0.0, 299.0], "outstanding": [0.0, 3.0]}
    assert choose("jffc", {"w_affinity": 0.0}, **columns).index == 0
    assert choose("jffc", {"variant": "seed", "w_affinity": 0.0}, **columns).index == 1


def test_of_equal_holders_the_less_loaded(choose: Any) -> None:
    choice = choose("jffc", {"w_affinity": 0.0}, overlap=[0.0, 400.0, 400.0], outstanding=[0.0, 4.0, 3.0])
    assert (choice.index, choice.reason) == (2, "forward")


def test_winner_that_holds_is_not_forwarded(choose: Any) -> None:
    assert choose("jffc", overlap=[400.0, 400.0], outstanding=[0.0, 3.0]).reason == "score"


def test_affinity_is_graded_unless_binary(choose: Any) -> None:
    graded = choose("jffc", overlap=[100.0, 900.0]).scores
    binary = choose("jffc", {"affinity": "binary"}, overlap=[100.0, 900.0]).scores
    assert graded[0] - graded[1] > 0.2
    assert binary[0] == pytest.approx(binary[1], abs=0.02)


def test_load_as_the_gpu_tells_it_where_it_is_told(choose: Any) -> None:
    columns = {"outstanding": [4.0, 4.0, 0.0], "running": [4.0, 4.0, 0.0], "prefill_base": [2.0] * 3}
    told = {"reported_gpu_busy": [0.0, 1.0, -1.0]}
    account = choose("jffc", **columns, **told).scores
    gpu = choose("jffc", {"load_from": "gpu"}, **columns, **told).scores
    assert account[0] == account[1]
    assert gpu[1] - gpu[0] == pytest.approx(0.5 * 0.4 + 0.1)
    assert gpu[2] == account[2]


def test_forwarding_looks_at_the_same_load(choose: Any) -> None:
    columns = {**BUSY_HOLDER, "overlap": [0.0, 400.0], "reported_gpu_busy": [0.0, 0.9]}
    assert choose("jffc", {"w_affinity": 0.0}, **columns).reason == "forward"
    assert choose("jffc", {"w_affinity": 0.0, "load_from": "gpu"}, **columns).reason == "score"
