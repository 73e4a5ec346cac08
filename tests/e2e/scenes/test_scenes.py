"""The scenes of `scripts/faults`, short: real processes, and every claim must hold."""

import pytest
from tests.support.scenes import play


async def test_clients_leave() -> None:
    await play("cuts", "--clients=3", "--rounds=1", "--cancels=200", "--aborts=50")


@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.parametrize("workers", [1, 3])
async def test_many_streams(workers: int) -> None:
    await play("streams", "--streams=300", "--seconds=10", "--warm-up=16", f"--workers={workers}")


@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.parametrize("workers", [1, 2])
async def test_an_engine_is_killed(workers: int) -> None:
    await play("kill", "--seconds=40", "--down=1", f"--workers={workers}")


@pytest.mark.heavy
@pytest.mark.timeout(300)
async def test_an_engine_is_stopped() -> None:
    await play("stop", "--seconds=50", "--stopped=20", "--first-token=2", "--silence=4")


@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", ["--ways=drain", "--ways=sigterm", "--gateway"])
async def test_a_rolling_restart(how: str) -> None:
    await play("roll", how)


@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", ["--by=tokens", "--by=text"])
async def test_streams_lose_their_node(how: str) -> None:
    await play("resume", "--streams=60", how)
