"""Beginnings of prompts that nodes which obey are to keep, whatever else they need memory for.

What is pinned is taken for everyone else, like what is kept ready, and a hit for whoever begins with it. A node that
restarts, or is believed from then on, has nothing pinned any more.
"""

from collections.abc import Sequence
from math import ceil

from pointsman.brain.cache.index import PrefixIndex
from pointsman.brain.cache.pool import Pool
from pointsman.brain.commanding import Commanding
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.commands import Pin, Unpin
from pointsman.brain.model.errors import BadRequest, Conflict, NotFound
from pointsman.brain.model.request import Request

Links = tuple[int, ...]


class Pinning:
    """Mutates what `commanding` holds, and the pool. Pins are told apart by the last link of each."""

    def __init__(self, fleet: Fleet, index: PrefixIndex, pool: Pool, commanding: Commanding) -> None:
        self._fleet = fleet
        self._index = index
        self._pool = pool
        self._commanding = commanding
        self._pins: dict[int, dict[int, Links]] = {}
        self._per_link: dict[int, float] = {}
        commanding.cleared = self.forget
        commanding.lost = self.lost

    def ask(self, request: Request, nodes: Sequence[str], tokens_per_link: float) -> None:
        """Have `nodes`, or all that obey, keep what they hold of the prompt.

        Raises BadRequest for a prompt without a link, NotFound for a node that does not serve its model, and Conflict
        where none of them obeys, or holds anything of it; then nothing has changed.
        """
        rows, links = self._rows(request, nodes), _links(request)
        if not any(self._index.depth(row, links) for row in rows):
            raise Conflict("no node that obeys holds the beginning of that prompt: /cache/warm has it computed")
        for row in rows:
            self.pin(row, links, tokens_per_link)

    def end(self, request: Request, nodes: Sequence[str], tokens_per_link: float) -> None:
        """Let `nodes`, or all that obey, evict it again. Raises as `ask`, but not where nothing is pinned."""
        for row in self._rows(request, nodes):
            self.unpin(row, _links(request), tokens_per_link)

    def pin(self, row: int, links: Sequence[int], tokens_per_link: float) -> None:
        """Have the node keep what it holds of that chain, if anything. Repeating changes nothing."""
        kept = tuple(links[: self._index.depth(row, links)])
        if not kept:
            return
        pins = self._pins.setdefault(row, {})
        if kept[-1] not in pins:
            self._commanding.hold(row, kept[-1])
            pins[kept[-1]] = kept
            self._count(row, tokens_per_link)
        self._commanding.instruct(row, (Pin(kept),))

    def unpin(self, row: int, links: Sequence[int], tokens_per_link: float) -> None:
        """Let the node evict again what of that chain is pinned there, but for what other pins need."""
        chain, pins = set(links), self._pins.get(row, {})
        ended = [last for last in pins if last in chain]
        for last in ended:
            self._commanding.let_go(row, last)
        gone = dict.fromkeys(link for last in ended for link in pins.pop(last))
        needed = {link for kept in pins.values() for link in kept}
        if ended:
            self._count(row, tokens_per_link)
        free = tuple(link for link in links if link in gone and link not in needed)
        if free:
            self._commanding.instruct(row, (Unpin(free),))

    def forget(self, row: int) -> None:
        """The node keeps nothing any more."""
        if self._pins.pop(row, None) is not None:
            self._commanding.cover(row, -float(self._pool.pinned(row)))
            self._pool.set_pinned(row, 0)

    def lost(self, row: int, links: Sequence[int]) -> None:
        """The node does not have these, though they were to be kept: it keeps of each prompt what comes before them."""
        pins = self._pins.get(row)
        if not pins or not links:
            return
        gone = set(links)
        broken = [(last, kept) for last, kept in pins.items() if not gone.isdisjoint(kept)]
        for last, kept in broken:
            left = kept[: next(at for at, link in enumerate(kept) if link in gone)]
            if left and left[-1] not in pins:
                self._commanding.hold(row, left[-1])
                pins[left[-1]] = left
            self._commanding.let_go(row, last)
            del pins[last]
        if broken:
            self._count(row, self._per_link[row])

    def _rows(self, request: Request, nodes: Sequence[str]) -> list[int]:
        """The nodes that are meant, as far as they obey and any block of them is as good as another."""
        serving = self._fleet.found(request.model).listed
        for node in nodes:
            if self._fleet.row_of.get(node) not in serving:
                raise NotFound(f"no node {node!r} serves model {request.model!r} now", param="nodes")
        meant = [self._fleet.row_of[node] for node in dict.fromkeys(nodes)] or serving
        rows = [row for row in meant if self._commanding.obeys(row) and row not in self._pool.arenas]
        if not rows:
            raise Conflict('none of these nodes is commanded (residency = "commanded") and keeps its KV in pages')
        return rows

    def _count(self, row: int, tokens_per_link: float) -> None:
        self._per_link[row] = tokens_per_link
        before, links = self._pool.pinned(row), {link for kept in self._pins[row].values() for link in kept}
        self._pool.set_pinned(row, ceil(len(links) * tokens_per_link / self._fleet.cells.block_tokens[row]))
        self._pool.cached(row, self._index.held(row) * tokens_per_link)
        self._commanding.cover(row, float(self._pool.pinned(row) - before))


def _links(request: Request) -> Sequence[int]:
    if request.chain is None or not request.chain.links:
        raise BadRequest("the prompt is too short to be known by its beginning, or of a kind that has none")
    return request.chain.links
