"""The scenes of `scripts/faults`, short: real processes, and every claim must hold."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "scripts" / "faults.d"


async def play(scene: str, *arguments: str) -> None:
    command = [sys.executable, str(FOLDER / f"{scene}.py"), "--json", *arguments]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    assert out, err.decode()
    report = json.loads(out)
    assert not [claim for claim in report["claims"] if not claim["held"]]
    assert process.returncode == 0


async def test_clients_leave() -> None:
    await play("cuts", "--clients=3", "--rounds=1", "--cancels=200", "--aborts=50")


@pytest.mark.heavy
async def test_many_streams() -> None:
    await play("streams", "--streams=300", "--seconds=10", "--warm-up=16")
