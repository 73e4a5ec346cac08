"""Plays a scene of `scripts/faults` as its command does, and requires that every claim held."""

import asyncio
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "scripts" / "faults.d"


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
    assert [claim for claim in json.loads(out)["claims"] if not claim["held"]] == []
    assert process.returncode == 0
