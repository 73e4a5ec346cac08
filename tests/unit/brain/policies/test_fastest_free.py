from typing import Any

from pointsman.brain.model.choice import Hold


def test_fastest_with_a_free_slot_however_busy(choose: Any) -> None:
    assert choose("fastest_free", outstanding=[0.0, 7.0, 8.0], speed=[1.0, 2.0, 9.0]).index == 1


def test_holds_when_none_is_free(choose: Any) -> None:
    hold = choose("fastest_free", outstanding=[8.0, 9.0])
    assert isinstance(hold, Hold)
    assert hold.reason == "full"
