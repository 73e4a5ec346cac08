"""A node whose packets vanish is noticed by the system, where no time-out of ours would end the request."""

from pathlib import Path

import msgspec
import pytest

from .black_hole import unavailable
from .cells import Cell, Fault, Phase
from .invariants import problems
from .node import Plan
from .stage import Stage
from .world import TIMEOUTS, Engines, World, until

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))]


async def test_a_plain_request_is_tried_elsewhere_when_its_node_acknowledges_nothing(tmp_path: Path) -> None:
    """It may take as long as its client allows; but a host that is not there will not answer it."""
    timeouts = msgspec.structs.replace(TIMEOUTS, node_gone_s=1.0)
    cell = Cell(Fault.BLACK_HOLE, Phase.BEFORE_HEADERS, stream=False)
    async with (
        Engines(tmp_path, 1, 0) as engines,
        World(engines, "gone", timeouts) as world,
        Stage(world, 0, cell) as on,
    ):
        on.arm(Plan(cell.fault, cell.phase))
        client = await on.ask("subject")
        assert await until(lambda: client.ended, 8.0)
        await on.heal()
        assert client.status == 200
        first, second = world.ledger.ended(client.id, on.model)
        assert (first.outcome.reason, second.outcome.reason) == ("reset", "done")
        assert await until(lambda: not list(problems(on, client)), 1.0)
    assert not world.wrong
