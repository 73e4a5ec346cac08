"""Faults strike nodes at every moment of a request: a sample of the cells here, all of them under the mark `heavy`."""

import pytest

from .cells import CELLS, QUICK, Cell
from .matrix import playable, rounds


async def well(cells: tuple[Cell, ...]) -> None:
    chosen, skipped = playable(cells)
    (result,) = await rounds(chosen, 1, lambda _: None)
    assert not result.problems, "\n".join(result.problems)
    if skipped:
        pytest.skip(skipped)


async def test_a_sample_of_the_cells() -> None:
    await well(QUICK)


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_every_cell() -> None:
    await well(CELLS)
