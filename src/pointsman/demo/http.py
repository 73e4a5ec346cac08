"""Small questions to the children: are you ready, do this, tell me that."""

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import msgspec

from .errors import DemoError

READY_WITHIN_S = 20.0
IDLE_WITHIN_S = 5.0
POLL_S = 0.05


async def until_ready(session: aiohttp.ClientSession, url: str, check: Callable[[], None]) -> None:
    """Wait until `url` answers 200. `check` raises if the child behind it died. Raises DemoError after 20 s."""
    problem = ""
    for _ in range(int(READY_WITHIN_S / POLL_S)):
        check()
        try:
            async with session.get(url) as response:
                if response.status == 200:
                    return
                problem = f"status {response.status}: {(await response.text())[:200]}"
        except aiohttp.ClientError as error:
            problem = str(error)
        await asyncio.sleep(POLL_S)
    raise DemoError(f"{url} was not ready within {READY_WITHIN_S:.0f} s: {problem}")


async def call_when_idle(session: aiohttp.ClientSession, method: str, url: str) -> None:
    """The call, repeated while the answer is 409: requests that were cut a moment ago are still being put away."""
    for _ in range(int(IDLE_WITHIN_S / POLL_S)):
        async with session.request(method, url) as response:
            if response.status != 409:
                break
        await asyncio.sleep(POLL_S)
    else:
        raise DemoError(f"{method} {url}: still busy after {IDLE_WITHIN_S:.0f} s")
    if response.status // 100 != 2:
        raise DemoError(f"{method} {url}: status {response.status}")


async def call(session: aiohttp.ClientSession, method: str, url: str, body: Any = None) -> bytes:
    """The answer's body. Raises DemoError for anything but a 2xx answer."""
    data = None if body is None else msgspec.json.encode(body)
    headers = {"Content-Type": "application/json"} if data else {}
    try:
        async with session.request(method, url, data=data, headers=headers) as response:
            content = await response.read()
    except aiohttp.ClientError as error:
        raise DemoError(f"{method} {url}: {error}") from error
    if response.status // 100 != 2:
        raise DemoError(f"{method} {url}: status {response.status}: {content[:200]!r}")
    return content
