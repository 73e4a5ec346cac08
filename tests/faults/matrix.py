"""Plays many cells, many at a time, and says how they went."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .black_hole import unavailable
from .cells import CELLS, Cell, Fault
from .play import Played, play
from .world import Engines, World

AT_ONCE = 16
STOPPABLE = 4
PLAYS = 5
"""Most times a cell is played while the machine is to blame."""


@dataclass(frozen=True, slots=True)
class Round:
    """One time through the cells; `wrong` is what went wrong beside them: what was left over, logged or miscounted."""

    played: tuple[Played, ...]
    wrong: tuple[str, ...]
    seconds: float
    again: int
    """Plays that proved nothing."""

    @property
    def problems(self) -> list[str]:
        """A sentence for everything that is wrong."""
        return [f"{each.cell}: {'; '.join(each.problems)}" for each in self.played if each.problems] + list(self.wrong)


def playable(cells: Sequence[Cell]) -> tuple[list[Cell], str | None]:
    """The cells that can be played on this machine, and why others cannot."""
    why = unavailable()
    if why is None:
        return list(cells), None
    return [cell for cell in cells if cell.fault is not Fault.BLACK_HOLE], f"no black hole: {why}"


async def rounds(cells: Sequence[Cell], repeats: int, on_played: Callable[[Played], None]) -> list[Round]:
    """Play the cells `repeats` times, each time before a new gateway. Made for uvloop, as the gateway is."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        async with Engines(Path(folder), PLAYS * len(CELLS), STOPPABLE) as engines:
            return [await _round(World(engines, f"r{number}"), cells, on_played) for number in range(repeats)]


async def _round(world: World, cells: Sequence[Cell], on_played: Callable[[Played], None]) -> Round:
    # Those that need an engine of their own wait for one apart, so that they hold up nobody else.
    rooms = {True: asyncio.Semaphore(STOPPABLE), False: asyncio.Semaphore(AT_ONCE)}
    again = 0

    async def in_turn(cell: Cell) -> Played:
        nonlocal again
        async with rooms[cell.fault is Fault.STOPPED]:
            for number in range(PLAYS):
                played = await play(world, number * len(CELLS) + CELLS.index(cell), cell)
                if not played.proves_nothing:
                    break
                again += 1
        on_played(played)
        return played

    began = world.clock.now()
    async with world:
        played = await asyncio.gather(*[in_turn(cell) for cell in cells])
    return Round(tuple(played), tuple(world.wrong), world.clock.now() - began, again)
