"""Tells engines that obey what to do with their KV caches, when the brain orders it.

One request at a time goes to a node, with all that was ordered meanwhile, so that orders arrive as they were given. A
node that does not take them in time has failed all that it was to be told: the brain knows what follows from that.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from pointsman.brain.model.commands import Obeyed
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Instruct
from pointsman.gateway.fetch import FetchFailed, fetch
from pointsman.gateway.targets import Targets
from pointsman.gateway.upstream import ConnectFailed
from pointsman.wire.kv_orders import KvAnswer, decode_answer, orders_of

TIMEOUT_S = 1.0
"""An order takes an engine microseconds; who waits for longer is better off without."""


class Commander:
    """One task a node, while there is anything to tell it. `ended` is called once for each instruction."""

    def __init__(self, targets: Targets, loop: asyncio.AbstractEventLoop, ended: Callable[[Obeyed], object]) -> None:
        self._targets = targets
        self._loop = loop
        self._ended = ended
        self._waiting: dict[str, list[Instruct]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def start(self, order: Instruct) -> None:
        """Tell the node, after what it is being told now."""
        waiting = self._waiting.get(order.node.name)
        if waiting is not None:
            waiting.append(order)
            return
        self._waiting[order.node.name] = [order]
        task = self._loop.create_task(self._tell_all(order.node.name))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """Cancel what is under way."""
        for task in tuple(self._running):
            task.cancel()

    async def _tell_all(self, name: str) -> None:
        while orders := self._waiting[name]:
            self._waiting[name] = []
            for report in await self._tell(orders[-1].node, orders):
                self._ended(report)
        del self._waiting[name]

    async def _tell(self, node: NodeSpec, orders: Sequence[Instruct]) -> list[Obeyed]:
        try:
            body = orders_of(command for order in orders for command in order.commands)
            answer = await fetch(self._targets.of(node), "/kv/orders", TIMEOUT_S, body)
            if answer.status == 200:
                return _reports(orders, decode_answer(answer.body))
            why = f"status {answer.status}"
        except (ConnectFailed, FetchFailed, TimeoutError, OSError, ValueError, msgspec.DecodeError) as error:
            why = str(error) or "timeout"
        return [Obeyed(number=order.number, ok=False, reason=why) for order in orders]


def _reports(orders: Sequence[Instruct], answer: KvAnswer) -> list[Obeyed]:
    """Each instruction's part of what came of all; links that were lost are told with the first."""
    reports, at, lost = [], 0, answer.lost
    for order in orders:
        done = answer.done[at : at + len(order.commands)]
        ok = len(done) == len(order.commands)
        reports.append(Obeyed(number=order.number, ok=ok, reason="" if ok else "no answer", done=done, lost=lost))
        at, lost = at + len(order.commands), ()
    return reports
