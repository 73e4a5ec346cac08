from typing import Any

from pointsman.brain.model.draw import draw


def test_latency_times_queue(choose: Any) -> None:
    choice = choose("peak_ewma", response_seconds=[0.1, 0.5], outstanding=[9.0, 0.0])
    assert choice.scores.tolist() == [1.0, 0.5]
    assert choice.index == 1


def test_only_two_are_looked_at(choose: Any) -> None:
    chosen = {choose("peak_ewma", response_seconds=[1.0, 2.0, 3.0], draw=draw(1, i)).index for i in range(50)}
    assert chosen == {0, 1}
