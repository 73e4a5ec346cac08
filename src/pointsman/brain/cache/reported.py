"""What one node holds, as its own events tell: its blocks in our hashes, whatever it calls them.

Strategy: blocks are nodes of a tree, known by the engine's name and hashed anew from their tokens, so that equal
prompts have equal links on all nodes and after every restart. A block is there as long as any copy of it is: copies are
counted by (group, medium), since engines tell of a removal while duplicates remain. It is told as held while it and
all blocks before it are there, so what is told is closed under prefixes, however an engine evicts. A block that
is gone stays in the tree only while others stand behind it; memory follows the live blocks,
and of a publisher that tells of more than any engine has, all is forgotten and begun anew.
"""

from collections.abc import Sequence
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from pointsman.brain.cache.chain import chunk_link, token_chain
from pointsman.brain.model.kv_events import CacheChange, Cleared, KvEvent, Removed, Stored

MOST_BLOCKS: Final = 2_000_000
"""Of one node, in some 1 GB; at 16 tokens each, 4 TB of an 8B model's KV. Who has more does not tell what goes."""


class Naming:
    """How links follow from token ids: in chunks of `chunk_tokens`, from a secret `seed` for chains of tokens."""

    def __init__(self, seed: int, chunk_tokens: int) -> None:
        self.seed = seed
        self.chunk_tokens = chunk_tokens

    def root(self, adapter: str) -> int:
        """Where chains of an adapter begin, or of the base model ("")."""
        return xxh3_64_intdigest(adapter.encode(errors="surrogatepass"), self.seed) if adapter else self.seed

    def chain(self, ids: Sequence[int], adapter: str = "", extra: bytes = b"") -> Sequence[int]:
        """The links of a prompt of text; `extra` is what separates its cache besides the adapter, such as its salt.

        Raises struct.error for an id outside 0..2^64-1.
        """
        return token_chain(self.behind(self.root(adapter), extra), ids, self.chunk_tokens).links

    def behind(self, seed: int, extra: bytes) -> int:
        """What follows on `seed` where something besides tokens separates the cache."""
        return xxh3_64_intdigest(extra, seed) if extra else seed


class Block:
    """A block of the tree. `links` are of the chunks that end in it, `seed` and `rest` what the next one goes on from.

    `copies` has a count for each (group, medium); `shown` while it is told as held.
    """

    __slots__ = ("children", "copies", "links", "name", "parent", "rest", "seed", "shown")

    def __init__(self, name: Any, parent: "Block | None", seed: int, rest: list[int], links: list[int]) -> None:
        self.name = name
        self.parent = parent
        self.seed = seed
        self.rest = rest
        self.links = links
        self.copies: dict[tuple[int, str], int] = {}
        self.children: dict[Any, Block] = {}
        self.shown = False


class ReportedCache:
    """The account of one publisher. Without a `naming` its names are links already.

    `whole` as in `CacheChange`: what was just cleared is known whole.
    """

    def __init__(self, node: str, naming: Naming | None) -> None:
        self.node = node
        self.whole = False
        self._naming = naming
        self._blocks: dict[Any, Block] = {}
        self._came: list[int] = []
        self._went: list[int] = []
        self._cleared = False

    def __len__(self) -> int:
        """Blocks that are known, those included that are gone while others stand behind them."""
        return len(self._blocks)

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def forget(self, *, whole: bool) -> None:
        """Nothing is known any more; if `whole`, because there is nothing."""
        self._blocks.clear()
        self._came.clear()
        self._went.clear()
        self._cleared = True
        self.whole = whole

    def take(self, event: KvEvent) -> None:
        """Enter what happened next."""
        if isinstance(event, Stored):
            self._store(event)
        elif isinstance(event, Removed):
            for name in event.names:
                self._remove(name, event.group, event.medium)
        elif isinstance(event, Cleared):
            self.forget(whole=True)

    def change(self, batches: int = 0, gaps: int = 0, lost: int = 0) -> CacheChange:
        """What happened since this was asked last."""
        change = CacheChange(
            node=self.node,
            came=self._came,
            went=self._went,
            cleared=self._cleared,
            whole=self.whole,
            batches=batches,
            gaps=gaps,
            lost=lost,
        )
        self._came, self._went, self._cleared = [], [], False
        return change

    def _store(self, event: Stored) -> None:
        if len(self._blocks) + len(event.names) > MOST_BLOCKS:
            self.forget(whole=False)
        parent = None
        if event.parent is not None:
            parent = self._blocks.get(event.parent)
            if parent is None:  # it was there before we listened: what it begins with is not known
                self.whole = False
                return
        copy = event.group, event.medium
        for place, name in enumerate(event.names):
            block = self._blocks.get(name)
            if block is None:
                block = self._new(name, parent, event, place)
            block.copies[copy] = block.copies.get(copy, 0) + 1
            if not block.shown and (block.parent is None or block.parent.shown):
                self._show(block)
            parent = block

    def _new(self, name: Any, parent: Block | None, event: Stored, place: int) -> Block:
        naming = self._naming
        if naming is None:
            block = Block(name, parent, 0, [], [name])
        else:
            seed = naming.root(event.adapter) if parent is None else parent.seed
            seed = naming.behind(seed, event.extra[place]) if event.extra else seed
            rest = [] if parent is None else parent.rest
            ids = [*rest, *event.token_ids[place * event.block_tokens : (place + 1) * event.block_tokens]]
            links, size = [], naming.chunk_tokens
            while len(ids) >= size:
                seed = chunk_link(seed, ids[:size])
                links.append(seed)
                ids = ids[size:]
            block = Block(name, parent, seed, ids, links)
        self._blocks[name] = block
        if parent is not None:
            parent.children[name] = block
        return block

    def _remove(self, name: Any, group: int, medium: str) -> None:
        block = self._blocks.get(name)
        if block is None:
            return
        copy = group, medium
        count = block.copies.get(copy, 0) - 1
        if count > 0:
            block.copies[copy] = count
            return
        block.copies.pop(copy, None)
        if not block.copies:
            if block.shown:
                self._hide(block)
            self._prune(block)

    def _show(self, block: Block) -> None:
        """Tell of `block`, and of those behind it that are there and waited for it."""
        shown = [block]
        while shown:
            block = shown.pop()
            block.shown = True
            self._came += block.links
            shown += [child for child in block.children.values() if child.copies]

    def _hide(self, block: Block) -> None:
        hidden = [block]
        while hidden:
            block = hidden.pop()
            block.shown = False
            self._went += block.links
            hidden += [child for child in block.children.values() if child.shown]

    def _prune(self, block: Block | None) -> None:
        """Drop what is gone and has nothing behind it."""
        while block is not None and not block.copies and not block.children:
            del self._blocks[block.name]
            parent = block.parent
            if parent is not None:
                del parent.children[block.name]
            block = parent
