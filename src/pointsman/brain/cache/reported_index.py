"""Which nodes hold which links, as they report it, and as requests that run there make sure.

A node's events come after the step that computed the blocks: until then a prompt that was just sent there would seem
to be held nowhere, and the next one like it would go elsewhere. Blocks of running requests cannot be evicted either. So
the links of a running request's chain count as held where it runs, whatever chain it is known by. A link is held as
often as it was reported and by as many requests; what remains when one of these ends is what the others hold.
"""

from collections.abc import Sequence
from typing import Any, Final

from pointsman.brain.cache.holders import Holders
from pointsman.brain.model.kv_events import CacheChange

SWEEP_FACTOR: Final = 2
"""Links cleaned of dead bits per link that comes."""


class Running:
    """A request's hold on the links of its chains, unless the row's `epoch` is another by now."""

    __slots__ = ("chains", "epoch", "row")

    def __init__(self, row: int, epoch: int, chains: tuple[Sequence[Any], ...]) -> None:
        self.row = row
        self.epoch = epoch
        self.chains = chains


class ReportedIndex(Holders):
    """Rows of nodes that report. `whole` are those of which all is known that they hold."""

    def __init__(self) -> None:
        super().__init__()
        self._epochs: dict[int, int] = {}
        self._began = 0
        self.whole: set[int] = set()

    @property
    def rows(self) -> list[int]:
        """The rows that are tracked."""
        return list(self._epochs)

    def tracks(self, row: int) -> bool:
        """Whether the node at `row` reports."""
        return row in self._epochs

    def add(self, row: int) -> None:
        """The node at `row` reports; nothing is known of it yet."""
        self._began += 1
        self._epochs[row] = self._began
        self._track(row, {})

    def remove(self, row: int) -> None:
        """The node at `row` is gone, or reports no more."""
        super().remove(row)
        del self._epochs[row]
        self.whole.discard(row)

    def held(self, row: int) -> int:
        """Links known to be held at `row`."""
        return len(self._links[row])

    def change(self, row: int, change: CacheChange) -> None:
        """Enter what the node at `row` reports."""
        if change.cleared:
            self.remove(row)
            self.add(row)
        if change.whole:
            self.whole.add(row)
        else:
            self.whole.discard(row)
        self._come(row, change.came)
        self._go(row, change.went)

    def begun(self, row: int, chains: tuple[Sequence[Any], ...]) -> Running:
        """A prompt known by these chains is sent to the node at `row`."""
        for links in chains:
            self._come(row, links)
        return Running(row, self._epochs[row], chains)

    def ended(self, running: Running) -> None:
        """It is over; to be called once."""
        if self._epochs.get(running.row) == running.epoch:
            for links in running.chains:
                self._go(running.row, links)

    def _come(self, row: int, links: Sequence[Any]) -> None:
        if self._sweeps:
            self._sweep(SWEEP_FACTOR * len(links))
        counts = self._links[row]
        new: list[Any] = []
        for link in links:
            count: Any = counts.get(link, 0)
            counts[link] = count + 1
            if not count:
                new.append(link)
        self._hold(row, new)

    def _go(self, row: int, links: Sequence[Any]) -> None:
        counts = self._links[row]
        gone: list[Any] = []
        for link in links:
            count: Any = counts.get(link, 0)
            if count > 1:
                counts[link] = count - 1
            elif count:
                del counts[link]
                gone.append(link)
        self._drop(row, gone)
