"""The worked example of the literature, and the setting of its table."""

import pytest

from pointsman.chains.allocation import allocate
from pointsman.chains.model import Chain, Server, Service
from pointsman.chains.placement import place

EPSILON = 0.01


@pytest.fixture
def example_service() -> Service:
    return Service(3, 1.0, 0.1)


@pytest.fixture
def example_servers() -> list[Server]:
    """Five servers; the l-th takes l·ε per block."""
    memory, communication = (2.0, 3.0, 2.0, 2.0, 2.0), (1.0, 2.0, 1.0, 1.0, 1.0)
    each = enumerate(zip(memory, communication, strict=True), start=1)
    return [Server(str(number), gb, seconds, number * EPSILON) for number, (gb, seconds) in each]


@pytest.fixture(scope="session")
def bloom_service() -> Service:
    return Service(70, 1.32, 0.11)


@pytest.fixture(scope="session")
def bloom_servers() -> list[Server]:
    """Twenty servers, one in five large; round trips of 5 to 25 ms beside 18 ms of serialisation, 27.88 times a job."""
    return [
        Server(
            str(number),
            20.0 if number % 5 else 40.0,
            27.88 * (0.018 + 0.005 + 0.001 * (7 * number % 20)),
            0.175 if number % 5 else 0.109,
        )
        for number in range(20)
    ]


@pytest.fixture(scope="session")
def bloom_chains(bloom_servers: list[Server], bloom_service: Service) -> tuple[Chain, ...]:
    stages = place(bloom_servers, bloom_service, reserved=7, rate=10.0, target_load=0.7)
    return allocate(stages, bloom_service)
