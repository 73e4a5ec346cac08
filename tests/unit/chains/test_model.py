"""What fits, and where a job can go next."""

import pytest

from pointsman.chains.model import Chain, Server, Service, Stage, whole

SERVER = Server("a", memory_gb=20.0, communication_s=0.5, block_s=0.25)


def test_blocks_fit_with_their_cache() -> None:
    service = Service(70, 1.32, 0.11)
    assert [service.held(SERVER, reserved) for reserved in (1, 7, 200)] == [13, 9, 0]
    assert Service(5, 1.32, 0.11).held(SERVER, 1) == 5


def test_slots_are_what_the_blocks_leave() -> None:
    service = Service(70, 1.32, 0.11)
    assert service.slots(SERVER, 9) == 73
    assert service.slots(SERVER, 16) == 0


@pytest.mark.parametrize(("value", "expected"), [(0.3 / 0.1, 3), (2.999, 2), (0.0, 0)])
def test_rounding_takes_nothing_from_whole_numbers(value: float, expected: int) -> None:
    assert whole(value) == expected


def test_a_job_is_taken_through_the_blocks_from_its_next_on() -> None:
    stage = Stage(SERVER, first=4, count=3)
    assert [stage.taken(following) for following in range(3, 8)] == [0, 3, 2, 1, 0]


def test_seconds_and_rate() -> None:
    assert SERVER.job_seconds(6) == 2.0
    assert Chain((Stage(SERVER, 1, 6),), (6,), capacity=4, seconds=2.0).rate == 2.0
