"""Paged KV blocks with a chained prefix cache, kept by runs of blocks instead of one by one.

`blocks.py` says what a prefix cache does; this does the same at the cost of a few steps a request, however long its
prompt. A chain of blocks is a tuple of runs (first id, blocks): ids of a run are consecutive, and an id stands for its
block and all before it, so a chain that contains some id reaches it through the same ids as any other.

What makes a run enough: sequences hold leading parts of chains and give them back tail first. So of each run the
leading `cached` blocks are in the cache; of those the leading `used` ones, the most that any holder reaches, are in
use; and the rest is free, in one or more pieces of which the deepest was freed first and will be evicted first, from
its end. Only one sequence at a time extends a run: its writer, who holds all of it.

A writer's blocks enter the cache when somebody looks: `settle(holding)` is called for the writer of a run that a
search comes to, and is to `publish` what it has computed meanwhile. Nobody else can tell the difference.
"""

from collections.abc import Callable

from pointsman.workload.runs import Runs


class Run:
    """What an engine caches of one run. `depths`: how many holders reach how deep."""

    __slots__ = ("cached", "depths", "first", "pieces", "used", "writer")

    def __init__(self, first: int) -> None:
        self.first = first
        self.cached = 0
        self.used = 0
        self.depths: dict[int, int] = {}
        self.pieces: list[Piece] = []  # deepest first
        self.writer: Holding | None = None


class Piece:
    """Free blocks [low, high) of a run, or as many blank ones of none: a link in the queue of what is evicted next."""

    __slots__ = ("after", "before", "high", "low", "run")

    def __init__(self, run: Run | None, low: int, high: int) -> None:
        self.run = run
        self.low = low
        self.high = high
        self.before: Piece = self
        self.after: Piece = self

    def join(self, end: "Piece") -> None:
        """Enter the ring as the last before `end`."""
        self.before, self.after = end.before, end
        end.before.after = self
        end.before = self

    def leave(self) -> None:
        """Out of the ring, for good."""
        self.before.after = self.after
        self.after.before = self.before


class Holding:
    """One sequence's part in the cache: the first `shared` blocks of its chain, `tip` of them in the run at `place`.

    `writing` is the run it extends, if it has more to publish and nobody else was first.
    """

    __slots__ = ("chain", "place", "runs", "shared", "tip", "writing")

    def __init__(self, chain: Runs) -> None:
        self.chain = chain
        self.runs: list[Run] = []
        self.place = 0
        self.tip = 0
        self.shared = 0
        self.writing: Run | None = None


class RunPool:
    """`total` blocks: in use, free with cached content, or free and blank. The same answers as a `BlockPool`."""

    def __init__(self, total: int, settle: Callable[[Holding], None]) -> None:
        if total < 1:
            raise ValueError(f"an engine needs at least one KV block, got {total}")
        self.total = total
        self._settle = settle
        self.clear()

    def clear(self) -> None:
        """Forget all content; every block becomes free and blank. Only while no sequence holds any."""
        self.free = self.total
        self.evicted = 0
        self.cached = 0
        self._runs: dict[int, Run] = {}
        self._end = Piece(None, 0, 0)  # of the queue, a ring: its first piece comes after it, its last before it
        Piece(None, 0, self.total).join(self._end)

    def find(self, chain: Runs, limit: int) -> tuple[int, int]:
        """How many leading blocks of `chain`, at most `limit`, are cached, and how many of those are free."""
        hits = free = 0
        runs = self._runs
        for first, count in chain:
            run = runs.get(first)
            if run is None:
                break
            if run.writer is not None:
                self._settle(run.writer)
            reach = min(count, run.cached, limit - hits)
            hits += reach
            if reach > run.used:
                free += reach - run.used
            if reach < count:
                break
        return hits, free

    def extendable(self, chain: Runs, hits: int) -> bool:
        """Whether somebody is about to publish what follows the first `hits` blocks of `chain`."""
        for first, count in chain:
            if hits < count:
                run = self._runs.get(first)
                return run is not None and run.writer is not None
            hits -= count
        return False

    def share(self, holding: Holding, blocks: int, fresh: int) -> None:
        """Take part in the first `blocks` blocks of the holding's chain, as `find` found, and take `fresh` ones."""
        holding.shared = blocks
        for first, count in holding.chain:
            if not blocks:
                break
            run = self._runs[first]
            depth = min(count, blocks)
            self._hold(run, depth)
            holding.runs.append(run)
            blocks -= depth
            if depth == count:
                holding.place += 1
            else:
                holding.tip = depth
        self.take(fresh)
        self._claim(holding)

    def take(self, count: int) -> None:
        """Take `count` private blocks from the head of the queue, evicting what they cached. Ask `find` first."""
        self.free -= count
        while count:
            piece = self._end.after
            taken = piece.high - piece.low
            if taken > count:
                piece.high -= count
                taken = count
            else:
                piece.high = piece.low
                piece.leave()
            count -= taken
            run = piece.run
            if run is not None:
                self.evicted += taken
                self.cached -= taken
                self._evict(run, piece)

    def publish(self, holding: Holding, blocks: int) -> None:
        """Let the first `blocks` blocks of the holding's chain be in the cache, as far as they are its to write."""
        todo = blocks - holding.shared
        while todo > 0 and holding.writing is not None:
            run, tip = holding.writing, holding.tip
            count = holding.chain[holding.place][1]
            grown = min(todo, count - tip)
            if tip == 0:
                holding.runs.append(run)
            self._extend(run, tip, tip + grown)
            holding.shared += grown
            holding.tip += grown
            todo -= grown
            if holding.tip == count:
                run.writer = None
                holding.place += 1
                holding.tip = 0
                self._claim(holding)

    def release(self, holding: Holding, blocks: int) -> None:
        """Give back all `blocks` blocks of a sequence, tail first: its private ones, then those it shares."""
        if holding.writing is not None:
            self._unclaim(holding.writing)
            holding.writing = None
        private = blocks - holding.shared
        if private > 0:
            self.free += private
            Piece(None, 0, private).join(self._end)
        runs, chain, place = holding.runs, holding.chain, holding.place
        if holding.tip:
            self._drop(runs[place], holding.tip)
        for at in range(place - 1, -1, -1):
            self._drop(runs[at], chain[at][1])

    def _claim(self, holding: Holding) -> None:
        """Become the writer of what follows, unless it is cached or has a writer already."""
        holding.writing = None
        if holding.place == len(holding.chain):
            return
        first = holding.chain[holding.place][0]
        run = self._runs.get(first)
        if run is None:
            run = self._runs[first] = Run(first)
        if run.cached == holding.tip and run.writer is None:
            run.writer = holding
            holding.writing = run

    def _unclaim(self, run: Run) -> None:
        run.writer = None
        if not run.cached:
            del self._runs[run.first]

    def _hold(self, run: Run, depth: int) -> None:
        run.depths[depth] = run.depths.get(depth, 0) + 1
        if depth <= run.used:
            return
        self.free -= depth - run.used
        while run.used < depth:
            piece = run.pieces[-1]
            if piece.high > depth:
                piece.low = run.used = depth
            else:
                run.used = piece.high
                run.pieces.pop()
                piece.leave()

    def _extend(self, run: Run, tip: int, depth: int) -> None:
        """Its writer, who holds it to the end at `tip`, goes on to `depth`."""
        if tip:
            self._leave(run, tip)
        run.depths[depth] = 1
        self.cached += depth - tip
        run.cached = run.used = depth

    def _drop(self, run: Run, depth: int) -> None:
        self._leave(run, depth)
        if depth < run.used or depth in run.depths:
            return
        run.used = max(run.depths) if run.depths else 0
        piece = Piece(run, run.used, depth)
        run.pieces.append(piece)
        piece.join(self._end)
        self.free += depth - run.used

    def _leave(self, run: Run, depth: int) -> None:
        holders = run.depths[depth] - 1
        if holders:
            run.depths[depth] = holders
        else:
            del run.depths[depth]

    def _evict(self, run: Run, piece: Piece) -> None:
        """`piece`, the run's deepest, has lost blocks at its end."""
        run.cached = piece.high
        if piece.high == piece.low:
            del run.pieces[0]
            if not run.cached:
                del self._runs[run.first]
