from typing import Any


def test_fewest_outstanding(choose: Any) -> None:
    assert choose("least_requests", outstanding=[3.0, 1.0, 2.0]).index == 1
