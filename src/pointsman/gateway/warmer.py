"""Sends the beginnings of prompts to nodes, when the brain orders it, so that these have them cached."""

import asyncio
import logging
from collections.abc import Callable

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.orders import Warm
from pointsman.gateway.fetch import FetchFailed, fetch
from pointsman.gateway.targets import Targets, chain_line
from pointsman.gateway.upstream import ConnectFailed
from pointsman.gateway.work import Work
from pointsman.wire.openai.leading import leading

TIMEOUT_S = 60.0
"""For a prompt and a token, on a node that has little else to do."""

_log = logging.getLogger(__name__)


class Warmer:
    """Runs each warm-up in a task. `ended(warm, ok)` is told how it went, once for each order."""

    def __init__(self, targets: Targets, loop: asyncio.AbstractEventLoop, ended: Callable[[int, bool], object]) -> None:
        self._targets = targets
        self._loop = loop
        self._ended = ended
        self._running: set[asyncio.Task[None]] = set()

    def start(self, order: Warm, work: Work | None) -> None:
        """Send what the order asks for of the prompt of `work`; None where that request is over."""
        body = None if work is None else beginning(work, order.links)
        if work is None or body is None:
            self._ended(order.warm, False)
            return
        chain = work.request.chain
        lines = b"" if chain is None else chain_line(order.node, chain.links[: order.links])
        task = self._loop.create_task(self._warm(order, work.head.path.decode(), body, lines))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """Cancel what is under way."""
        for task in tuple(self._running):
            task.cancel()

    async def _warm(self, order: Warm, path: str, body: bytes, lines: bytes) -> None:
        try:
            answer = await fetch(self._targets.of(order.node), path, TIMEOUT_S, body, lines)
            ok, told = 200 <= answer.status < 300, f"status {answer.status}"
        except (ConnectFailed, FetchFailed, TimeoutError, OSError, ValueError) as error:
            ok, told = False, str(error) or "timeout"
        if not ok:
            _log.debug("%s was sent a hot prefix: %s", order.node.name, told)
        self._ended(order.warm, ok)


def beginning(work: Work, links: int) -> bytes | None:
    """The body that asks for the first `links` links of the work's prompt; None where that cannot be cut."""
    chain = work.request.chain
    if chain is None or work.events != "choices":
        return None
    try:
        return leading(work.body, links * (chain.bytes_per_link or int(chain.tokens_per_link)))
    except BadRequest:
        return None
