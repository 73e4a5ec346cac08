"""The bookings of other gateways before the same nodes, in this one's columns; and what they are to know of ours.

The others' amounts enter the columns by difference to what they were, as whole numbers, so that the sums return to
exactly zero when they have ended theirs, or are gone. What is left of a column without them is this gateway's own.

It tells nothing further until it has heard a round that counts what it told: so the pace is that of the slowest on
the way, nothing piles up, and at most one share is unknown to the sums that it hears.
"""

from array import array
from collections.abc import Sequence, Set

import numpy as np

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.sharing import SHARED, Booked, PeerReport, Sent, Share
from pointsman.brain.model.view import Floats

LINKS_TOLD = 1 << 16
"""Links of prompts told at once, at most: half a megabyte. The newest prompts are told."""


class Peers:
    """Mutates the columns of `SHARED` and the bounds of `fleet`. One entry a fleet row."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._columns: list[Floats] = [getattr(fleet.columns, name) for name in SHARED]
        self._others: Floats = np.zeros((len(SHARED), fleet.capacity))
        self._told: Floats = np.zeros((len(SHARED), fleet.capacity))
        self._gone: list[str] = []
        self._sent: list[tuple[str, Sequence[int], float]] = []
        self._feedback: list[ClientReport] = []
        self._waiting: tuple[str, ...] = ()
        self._shares = 0
        self._counted = 0

    @property
    def any(self) -> bool:
        """Whether there are other gateways."""
        return self._fleet.bounds.gateways > 1

    def own(self) -> Floats:
        """This gateway's own amounts: one line for each of `SHARED`, one column for each of the fleet's rows."""
        rows = len(self._fleet)
        return np.stack([column[:rows] for column in self._columns]) - self._others[:, :rows]

    def sent(self, node: str, links: Sequence[int], tokens_per_link: float) -> None:
        """A prompt with this chain is sent to `node`: the others are to believe it there too."""
        self._sent.append((node, links, tokens_per_link))

    def fed_back(self, report: ClientReport) -> None:
        """A client said something of a request that is not known here: let the others see whether it was theirs."""
        self._feedback.append(report)

    def forget(self, row: int) -> None:
        """The node at `row` is about to leave, or to go by another id: what others say under this id is not its own."""
        if self._told[:, row].any():
            self._gone.append(self._fleet.spec(row).name)
        self._told[:, row] = 0.0
        self._count(row, Booked())
        self._fleet.bounds.hear(row, 0.0, 0.0)

    def hear(self, report: PeerReport) -> None:
        """Count what the others hold now. Nodes that are not known here are passed over."""
        fleet = self._fleet
        self._counted = report.counted
        for node, known in report.nodes.items():
            row = fleet.row_of.get(node)
            if row is not None:
                self._count(row, known.others)
                fleet.bounds.hear(row, known.others.outstanding, min(known.ours, self._told[0, row]))
        waiting = report.waiting
        fleet.bounds.renew(
            report.gateways,
            [max((waiting[model] for model in models if model in waiting), default=0) for models in fleet.models]
            if waiting
            else [0.0] * len(fleet),
        )

    def share(self, waiting: Set[str]) -> Share | None:
        """What changed since the last share, or None; from now on the others are taken to know it.

        None also while the last share is not counted in what was heard.
        """
        if self._counted < self._shares:
            return None
        own = self.own()
        rows = own.shape[1]
        changed = np.flatnonzero((own != self._told[:, :rows]).any(axis=0)).tolist()
        booked = dict.fromkeys(self._gone, Booked())
        booked |= {self._fleet.spec(row).name: Booked(*map(int, own[:, row].tolist())) for row in changed}
        models = tuple(sorted(waiting))
        if not booked and not self._sent and not self._feedback and models == self._waiting:
            return None
        sent, self._sent = self._sent, []
        feedback, self._feedback = self._feedback, []
        self._gone.clear()
        self._told[:, :rows] = own
        self._waiting = models
        self._fleet.bounds.told(self._fleet.columns.outstanding[:rows])
        self._shares += 1
        return Share(number=self._shares, booked=booked, sent=_newest(sent), waiting=models, feedback=feedback)

    def _count(self, row: int, now: Booked) -> None:
        others = self._others
        for position, (column, name) in enumerate(zip(self._columns, SHARED, strict=True)):
            amount = getattr(now, name)
            column[row] += amount - others[position, row]
            others[position, row] = amount


def links_of(sent: Sent) -> Sequence[int]:
    """The links of a prompt that another gateway sent."""
    links = array("Q")
    links.frombytes(sent.links)
    return links


def _newest(prompts: list[tuple[str, Sequence[int], float]]) -> list[Sent]:
    """The newest prompts that together have no more than `LINKS_TOLD` links, oldest first."""
    told: list[Sent] = []
    room = LINKS_TOLD
    for node, links, tokens_per_link in reversed(prompts):
        room -= len(links)
        if room < 0:
            break
        told.append(Sent(node, array("Q", links).tobytes(), tokens_per_link))
    return told[::-1]
