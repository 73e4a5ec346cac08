"""Who gives way first, by each rule."""

import pytest

from pointsman.brain.life.victims import RULES, Victim, cheapest, value


def victim(**more: float) -> Victim:
    return Victim(**{"lease": 1, "blocks": 10, "seconds": 1.0, "priority": 1.0, "generated": 0, "most": 100} | more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("priority", "generated", "blocks", "required", "expected"),
    [
        (1.0, 0, 10, 10.0, 0.0),
        (2.0, 50, 5, 10.0, 0.5),
        (1.0, 95, 5, 10.0, -0.4),
        (1.0, 200, 5, 10.0, -0.4),
    ],
)
def test_value_is_the_formula(priority: float, generated: int, blocks: int, required: float, expected: float) -> None:
    one = victim(priority=priority, generated=generated, blocks=blocks)
    assert value(one, required) == pytest.approx(expected)


def test_the_nearer_its_end_the_larger_and_the_less_urgent_the_sooner_it_goes() -> None:
    plain = value(victim(), 20.0)
    assert value(victim(generated=60), 20.0) < plain
    assert value(victim(blocks=15), 20.0) < plain
    assert value(victim(priority=0.5), 20.0) < plain


def test_cheapest_goes_by_seconds_alone() -> None:
    assert cheapest(victim(seconds=0.2, priority=9.0, blocks=1), 5.0) == 0.2
    assert set(RULES) == {"cheapest", "value"}
