from typing import Any

from pointsman.brain.model.draw import draw


def test_idle_ones_share_what_comes(choose: Any) -> None:
    choices = [choose("jiq", outstanding=[1.0, 0.0, 5.0, 0.0], draw=draw(1, i)) for i in range(60)]
    assert {choice.index for choice in choices} == {1, 3}
    assert choices[0].reason == "idle"


def test_busy_ones_are_drawn_whatever_their_queue(choose: Any) -> None:
    choices = [choose("jiq", outstanding=[1.0, 9.0], draw=draw(1, i)) for i in range(60)]
    assert {choice.index for choice in choices} == {0, 1}
    assert choices[0].reason == "busy"
