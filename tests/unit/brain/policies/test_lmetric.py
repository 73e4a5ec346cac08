from typing import Any


def test_tokens_to_compute_times_requests_that_decode(choose: Any) -> None:
    choice = choose(
        "lmetric", overlap=[500.0, 0.0], backlog_tokens=[100.0, 0.0], running=[3.0, 1.0], outstanding=[9.0, 9.0]
    )
    assert choice.scores.tolist() == [2400.0, 2000.0]
    assert choice.index == 1
