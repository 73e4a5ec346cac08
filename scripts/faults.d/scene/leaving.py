"""What became of requests whose clients have left: who was told, and how soon."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from scene.world import World

HEARD_WITHIN_S = 1.0
PATIENCE_S = 3.0
POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Left:
    """A request, and when its client left (unix time)."""

    id: str
    wall: float


@dataclass(frozen=True, slots=True)
class Heard:
    """Of `requests`, how many an engine was told to abort or had finished, how many no engine ever began, and how many
    are still worked on; `latest_s` is the longest time between leaving and an engine's abort."""

    requests: int
    aborted: int
    finished: int
    never: int
    running: int
    latest_s: float


async def heard(here: World, left: Sequence[Left]) -> Heard:
    """Wait until no engine works on any of them, but for no longer than three times what is allowed."""
    until = time.monotonic() + PATIENCE_S
    while True:
        result = _look(here, left)
        if not result.running or time.monotonic() > until:
            return result
        await asyncio.sleep(POLL_S)


def _look(here: World, left: Sequence[Left]) -> Heard:
    audits = here.audits
    audits.refresh()
    tally = audits.tally(each.id for each in left)
    aborts = [(audits.ended(each.id, "abort"), each.wall) for each in left]
    latest = max((abort - wall for abort, wall in aborts if abort is not None), default=0.0)
    return Heard(len(left), tally["aborted"], tally["finished"], tally["never started"], tally["still running"], latest)
