from typing import Any


def test_tokens_to_compute_times_requests(choose: Any) -> None:
    choice = choose(
        "vllm_kv_aware", overlap=[800.0, 0.0, 0.0], backlog_tokens=[600.0, 0.0, 0.0], outstanding=[1.0, 1.0, 0.0]
    )
    assert choice.scores.tolist() == [1600.0, 2000.0, 1000.0]
    assert choice.index == 2


def test_a_cached_prefix_is_worth_more_on_a_full_node(choose: Any) -> None:
    choice = choose("vllm_kv_aware", overlap=[900.0, 0.0], outstanding=[9.0, 1.0])
    assert choice.scores.tolist() == [1000.0, 2000.0]
