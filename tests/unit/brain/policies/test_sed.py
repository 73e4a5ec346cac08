from typing import Any

import pytest


def test_service_plus_the_turn_to_wait_for(choose: Any) -> None:
    choice = choose("sed", service_seconds=[2.0, 3.0, 1.0], outstanding=[3.0, 3.0, 15.0], slots=[4.0, 2.0, 4.0])
    assert choice.scores == pytest.approx([2.0, 3.0 + 3.0 * 2 / 2, 1.0 + 12 / 4])
    assert choice.index == 0
