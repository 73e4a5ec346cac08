"""Whether the machine kept time: on one that is busy otherwise, everything here may stand still beyond all patience.

A cell in which that happened proves nothing when it fails; it is played again (`matrix.py`), and the report says so.
"""

import asyncio
from collections import deque
from typing import Self

TICK_S = 0.01
TOLERATED_S = 0.2
"""Of a patience of half a second. Later than this, time-outs may have struck what was well."""


class Lateness:
    """Watches how late the loop wakes up, as an asynchronous context manager."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=10_000)

    async def __aenter__(self) -> Self:
        self._task = asyncio.ensure_future(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    def worst_since(self, moment: float) -> float:
        """Seconds of the longest standstill since `moment` on the loop's clock, as far as it is worth mentioning."""
        return max((late for at, late in self._late if at >= moment), default=0.0)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK_S
            await asyncio.sleep(TICK_S)
            if (late := loop.time() - due) > TICK_S:
                self._late.append((loop.time(), late))
