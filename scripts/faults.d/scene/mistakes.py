"""Settings that cannot be used, each with a key in the wrong place: whoever complains must not repeat it."""

import asyncio
import json
import sys
from pathlib import Path

PATIENCE_S = 20.0


def mistaken(key: str) -> list[str]:
    """Files of settings."""
    quoted = json.dumps(key)
    return [
        f"api_keys = {quoted}\n",
        f"api_keys = [7, {quoted}]\n",
        f"node_key = {json.dumps(f'two words {key}')}\n",
        f'node_key = "{key}\n',
        f"api_key = {quoted}\n",
        f"node = [{json.dumps(f'http://user:{key}@127.0.0.1')}]\n",
    ]


async def refused_starts(folder: Path, key: str) -> bytes:
    """What the command says to one of them, and to flags like the others."""
    path = folder / "mistake.toml"
    path.write_text(mistaken(key)[0])
    starts = (["--node-key", f"two words {key}"], ["--node", f"http://{key}@127.0.0.1"], ["--config", str(path)])
    return b"\n".join(await asyncio.gather(*map(_refused, starts)))


async def _refused(arguments: list[str]) -> bytes:
    command = [sys.executable, "-m", "pointsman", "serve", *arguments]
    pipe, out = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=out)
    try:
        async with asyncio.timeout(PATIENCE_S):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return said
