from typing import Any

import pytest

from pointsman.brain.model.choice import Hold


@pytest.mark.parametrize(("outstanding", "index"), [([0.0, 0.0], 1), ([0.0, 1.0], 1), ([0.0, 2.0], 0)])
def test_speed_is_shared_with_those_there(choose: Any, outstanding: list[float], index: int) -> None:
    choice = choose("fastest_free_batched", outstanding=outstanding, speed=[1.0, 2.5])
    assert choice.index == index
    assert choice.scores[1] == -2.5 / (outstanding[1] + 1.0)


def test_holds_when_none_is_free(choose: Any) -> None:
    hold = choose("fastest_free_batched", outstanding=[8.0, 9.0])
    assert isinstance(hold, Hold)
    assert hold.reason == "full"
