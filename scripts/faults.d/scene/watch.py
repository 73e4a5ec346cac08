"""The states of nodes over time, as the admin port shows them."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

import aiohttp

from scene.admin import Admin
from scene.load import Load

POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Change:
    """A node was seen in another state at `at` (seconds since the load began)."""

    at: float
    node: str
    state: str


@dataclass(slots=True)
class Watch:
    """Looks twenty times a second, until `stop`."""

    admin: Admin
    load: Load
    changes: list[Change] = field(default_factory=list)
    _last: dict[str, str] = field(default_factory=dict)
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._look())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def state(self, node: str) -> str:
        """The state seen last."""
        return self._last.get(node, "")

    def first(self, node: str, states: tuple[str, ...], after: float) -> float | None:
        """When the node was first seen in one of the states after a moment."""
        return next((c.at for c in self.changes if c.node == node and c.state in states and c.at >= after), None)

    def story(self, node: str, after: float) -> str:
        """What became of the node, in words."""
        return ", ".join(f"{c.state} +{c.at - after:.1f} s" for c in self.changes if c.node == node and c.at >= after)

    async def until(self, node: str, state: str, within_s: float) -> bool:
        """Whether the node is seen in the state within that time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self.state(node) != state:
                    await asyncio.sleep(POLL_S)
        return self.state(node) == state

    async def _look(self) -> None:
        while True:
            with suppress(aiohttp.ClientError):
                self._take(await self.admin.states())
            await asyncio.sleep(POLL_S)

    def _take(self, states: dict[str, str]) -> None:
        for node, state in states.items():
            if self._last.get(node) != state:
                self.changes.append(Change(self.load.now, node, state))
        self._last = states
