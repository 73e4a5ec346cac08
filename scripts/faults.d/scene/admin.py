"""The admin port, as an operator's script would use it."""

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any

import aiohttp

ACCOUNTS = {
    "pointsman_node_outstanding": "requests outstanding",
    "pointsman_node_running": "requests running",
    "pointsman_node_backlog_tokens": "backlog tokens",
    "pointsman_node_kv_reserved_ratio": "KV blocks reserved",
    "pointsman_queue_length": "requests queued",
}
"""What must be zero when nobody asks for anything: metrics and what they count."""
POLL_S = 0.02
UP_WITHIN_S = 30.0
_LINE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Admin:
    """Asks the gateway's admin port. Its failures raise aiohttp's exceptions."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def get(self, path: str) -> Any:
        async with self._session.get(self._url + path) as response:
            response.raise_for_status()
            return await response.json()

    async def text(self, path: str) -> str:
        """Whatever the status."""
        async with self._session.get(self._url + path) as response:
            return await response.text()

    async def states(self) -> dict[str, str]:
        """The state of each node, by id."""
        return {node["id"]: node["state"] for node in await self.get("/nodes")}

    async def drain(self, node: str, drain: bool, limit_s: float | None = None) -> None:
        """Drain the node, within a limit if one is given, or put it back."""
        limit = {} if limit_s is None else {"limit_s": limit_s}
        async with self._session.patch(f"{self._url}/nodes/{node}", json={"drain": drain} | limit) as response:
            response.raise_for_status()

    async def add(self, **node: Any) -> None:
        """A further node, and wait until it is up."""
        async with self._session.post(f"{self._url}/nodes", json=node) as response:
            response.raise_for_status()
        await self.until(all_up, UP_WITHIN_S)

    async def metrics(self) -> dict[str, float]:
        """Sums over all labels, by name."""
        sums: dict[str, float] = {}
        for name, _, value in await self.samples():
            sums[name] = sums.get(name, 0.0) + value
        return sums

    async def samples(self) -> list[tuple[str, dict[str, str], float]]:
        """Every sample of /metrics: name, labels, value."""
        found = map(_LINE.fullmatch, (await self.text("/metrics")).splitlines())
        return [
            (line["name"], dict(_LABEL.findall(line["labels"] or "")), float(line["value"])) for line in found if line
        ]

    async def accounts(self) -> dict[str, float]:
        """What the gateway believes to be under way; all zero at rest."""
        sums = await self.metrics()
        return {what: sums.get(name, 0.0) for name, what in ACCOUNTS.items()}

    async def at_rest(self, within_s: float) -> tuple[float, dict[str, float]]:
        """Seconds until every account was zero (or `within_s`), and those that are not."""
        began = time.monotonic()
        while True:
            left = {what: value for what, value in (await self.accounts()).items() if value}
            seconds = time.monotonic() - began
            if not left or seconds >= within_s:
                return seconds, left
            await asyncio.sleep(POLL_S)

    async def until(self, true: Callable[[dict[str, str]], bool], within_s: float) -> float:
        """Seconds until the nodes' states are as wished. Raises TimeoutError."""
        began = time.monotonic()
        async with asyncio.timeout(within_s):
            while not true(await self.states()):
                await asyncio.sleep(POLL_S)
        return time.monotonic() - began


def all_up(states: dict[str, str]) -> bool:
    return bool(states) and set(states.values()) == {"up"}
