"""One cell from its first request to the last check."""

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from .cells import Cell, Fault, Phase
from .client import Client
from .engines import text_of
from .expected import End, expected
from .invariants import as_expected, end_of, left_well, problems, relays_of
from .lateness import TOLERATED_S
from .stage import Stage
from .world import World, until

LONGEST_S = 6.0
GONE_WITHIN_S = 1.0
"""A client is gone: its request is over, and its engine has stopped, in this time."""


@dataclass(frozen=True, slots=True)
class Played:
    """`seconds` is the time it took, all its requests and checks; `problems` is empty when all is well.

    `late_s` is how long the machine stood still at most: see `lateness.py`.
    """

    cell: Cell
    seconds: float
    problems: tuple[str, ...]
    late_s: float

    @property
    def proves_nothing(self) -> bool:
        """Whether the machine may be to blame."""
        return bool(self.problems) and self.late_s > TOLERATED_S


async def play(world: World, number: int, cell: Cell) -> Played:
    """Play the cell with the model of that number."""
    room = world.engines.heavy if cell.fault is Fault.OVERSIZE else nullcontext()
    loop = asyncio.get_running_loop()
    began, stage = loop.time(), Stage(world, number, cell)
    try:
        async with room, stage:
            began = loop.time()
            found = await _play(stage)
    except Exception as error:
        found = ["".join(traceback.format_exception(error))]
    world.check_counters()
    late_s = max(world.lateness.worst_since(began), stage.engines_late_s())
    return Played(cell, loop.time() - began, tuple(found), late_s)


async def _play(stage: Stage) -> list[str]:
    found: list[str] = []
    subject = await stage.subject()
    if stage.cell.leaves:
        found += [problem async for problem in _leave(stage, subject)]
    elif not await until(lambda: subject.ended, LONGEST_S):
        found.append(f"no end after {LONGEST_S} s")
    with suppress(TimeoutError):
        await asyncio.wait_for(stage.plan.struck.wait(), 1.0)
    await stage.heal()
    await _rest(stage)
    found += [problem async for problem in _drained(stage)]
    found += [problem async for problem in _again(stage)]
    found += left_well(stage, subject) if stage.cell.leaves else as_expected(stage, subject, expected(stage.cell))
    return found + list(problems(stage, subject))


async def _leave(stage: Stage, subject: Client) -> AsyncIterator[str]:
    """The client leaves when the fault strikes, or, from the queue, just before; that must end its request."""
    ledger, cell = stage.world.ledger, stage.cell
    if cell.phase is not Phase.QUEUED:
        await asyncio.wait_for(stage.plan.struck.wait(), 2.0)
        await until(lambda: bool(ledger.placed(subject.id, stage.model)), 1.0)
    subject.leave(by_reset=cell.stream)
    if not await until(lambda: ledger.closed(subject.id, stage.model), GONE_WITHIN_S):
        yield f"its request was still open {GONE_WITHIN_S} s after the client left"
    if cell.fault not in (Fault.STOPPED, Fault.BLACK_HOLE):  # they cannot be told
        engines = {node.engine for node in stage.nodes}
        if not await until(lambda: not any(e.running(subject.id) for e in engines), GONE_WITHIN_S):
            yield f"an engine still computed {GONE_WITHIN_S} s after the client left"
    if cell.phase is Phase.QUEUED:
        await stage.strike_queued()


async def _rest(stage: Stage) -> None:
    """Until all requests are over and the engines have noticed."""
    ledger = stage.world.ledger
    engines = {node.engine for node in stage.nodes}
    ids = [client.id for client in stage.clients]
    await until(lambda: all(ledger.closed(each, stage.model) for each in ids), LONGEST_S)
    await until(lambda: not any(engine.running(each) for engine in engines for each in ids), GONE_WITHIN_S)


async def _drained(stage: Stage) -> AsyncIterator[str]:
    """Draining, a node is given nothing, although it is the one that is chosen first."""
    driver, dispatcher = stage.world.gateway.driver, stage.world.dispatcher
    driver.call(lambda now: dispatcher.drain(stage.a.name, now))
    client = await stage.ask("drained", 2)
    await until(lambda: client.ended, LONGEST_S)
    if [relay.node for relay in relays_of(stage, client)] != [stage.b] or client.status != 200:
        yield f"while a node drained, {client.id} got {client.status}, not an answer of the other node"
    driver.call(lambda now: dispatcher.undrain(stage.a.name, now))


async def _again(stage: Stage) -> AsyncIterator[str]:
    """With the fault over, both nodes answer: no connection was left in a state that spoils the next request."""
    clients = [await stage.ask(f"again{number}", 2) for number in range(2)]
    await until(lambda: all(client.ended for client in clients), LONGEST_S)
    for client in clients:
        end = end_of(client, relays_of(stage, client), text_of(*stage.prompts[client.id]))
        if end is not End.WHOLE:
            yield f"afterwards {client.id} got {client.status} {end}"
    if len({relay.node.name for client in clients for relay in relays_of(stage, client)}) < 2:
        yield "afterwards only one node was given work"
    await _rest(stage)
