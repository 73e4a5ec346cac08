"""The scenes of `scripts/faults`, short: real processes, and every claim must hold."""

import pytest
from tests.support.scenes import play


async def test_clients_leave() -> None:
    await play("cuts", "--clients=3", "--rounds=1", "--cancels=200", "--aborts=50")


@pytest.mark.heavy
async def test_many_streams() -> None:
    await play("streams", "--streams=300", "--seconds=10", "--warm-up=16")


@pytest.mark.heavy
async def test_an_engine_is_killed() -> None:
    await play("kill", "--seconds=32", "--down=1")


@pytest.mark.heavy
async def test_an_engine_is_stopped() -> None:
    await play("stop", "--seconds=45", "--stopped=20", "--first-token=2", "--silence=4")


@pytest.mark.heavy
async def test_engines_are_restarted() -> None:
    await play("roll", "--ways=drain")
    await play("roll", "--ways=sigterm")
