"""Our view of a fleet that another router directs: built from what it did, so that our rules see what it saw.

Prompts are counted in bytes, their natural unit here; every rule compared uses ratios or sums of one unit. The prefix
index is the product's own, in chunks of 256 bytes; the routers' trees know single characters, so `exact` measures
common prefixes in bytes, to tell what the chunks account for.
"""

import numpy as np

from pointsman.brain.cache.chain import CHUNK_BYTES, byte_chain
from pointsman.brain.cache.index import PrefixIndex
from pointsman.brain.model.draw import draw
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Cells, Floats, View

from .workload import Ask

ROOM = 1 << 24
"""Links a node is taken to have room for: nothing is evicted during a run."""


class Mirror:
    """Follows a run: ask for the view before a request is placed, then say where it went."""

    def __init__(self, nodes: int, mean_prompt: float, exact: bool) -> None:
        self.nodes = nodes
        self.columns = Cells(nodes).columns()
        self.mean_prompt = mean_prompt
        self.exact = exact
        self.index = PrefixIndex()
        self.prompts: list[list[Floats]] = [[] for _ in range(nodes)]
        self.placed = 0
        for row in range(nodes):
            self.index.add(row, ROOM)
        self.columns.identity[:] = np.arange(nodes)
        self.columns.slots[:] = 256.0
        self.columns.kv_capacity[:] = np.inf
        self.columns.block_tokens[:] = 1.0
        self.columns.prefill_per_token[:] = 1.0

    def view(self, ask: Ask) -> View:
        size = len(ask.prompt.encode())
        return View(
            self.columns,
            np.arange(self.nodes),
            overlap=self._exact(ask) if self.exact else self._chunked(ask, size),
            prompt_tokens=float(size),
            output_tokens=float(ask.max_tokens),
            sequence=self.placed,
            draw=draw(0, self.placed),
        )

    def place(self, ask: Ask, row: int) -> None:
        columns = self.columns
        columns.outstanding[row] += 1.0
        columns.sent_tokens[row] += self.mean_prompt
        self.index.insert(row, _links(ask))
        self.prompts[row].append(_bytes(ask))
        columns.kv_cached[row] = self.index.held(row) * CHUNK_BYTES
        self.placed += 1

    def end(self, row: int) -> None:
        self.columns.outstanding[row] -= 1.0

    def _chunked(self, ask: Ask, size: int) -> Floats:
        return self.index.depths(_links(ask), self.nodes, float(CHUNK_BYTES), float(size))

    def _exact(self, ask: Ask) -> Floats:
        prompt = _bytes(ask)
        return np.array([max((_common(prompt, each) for each in held), default=0) for held in self.prompts], float)


def request(ask: Ask) -> Request:
    return Request(id="r", model="m", session=ask.session)


def _links(ask: Ask) -> list[int]:
    return list(byte_chain(0, ask.prompt.encode()).links)


def _bytes(ask: Ask) -> Floats:
    return np.frombuffer(ask.prompt.encode(), np.uint8)


def _common(one: Floats, other: Floats) -> int:
    """Leading bytes that both share."""
    length = min(len(one), len(other))
    differing = (one[:length] != other[:length]).nonzero()[0]
    return int(differing[0]) if len(differing) else length
