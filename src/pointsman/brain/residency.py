"""What nodes report of their caches, laid over what is believed of them.

For a node that reports, the overlap with a prompt is what its blocks say, as far as the prompt's tokens are known. What
runs there counts as held, for events come after the step (`cache/reported_index.py`). Where the tokens of a prompt are
not known, of all of it or of its end, belief goes on from there; so it does where the node may hold more than it
has told since it was first heard.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pointsman.brain.cache.reported_index import ReportedIndex, Running
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.view import Floats


class Residency:
    """Mutates its own index. `on` while any node reports: else nothing here needs to be asked.

    Of the requests placed on nodes that report, `by_report` were known by their tokens, `by_belief` were not.
    """

    def __init__(self, fleet: Fleet) -> None:
        self.on = False
        self.index = ReportedIndex()
        self.by_report = self.by_belief = 0
        self._fleet = fleet
        self._running: dict[int, Running] = {}
        self._tokens: dict[int, float] = {}
        self._heard: dict[int, float] = {}

    def declare(self, row: int) -> None:
        """The node at `row` is new, or declared otherwise."""
        reports = self._fleet.spec(row).residency == "reported"
        if reports and not self.index.tracks(row):
            self.index.add(row)
            self._tokens[row] = 0.0
        elif not reports:
            self.forget(row)
        self.on = bool(self.index.rows)

    def forget(self, row: int) -> None:
        """The node at `row` is gone, or reports no more."""
        if self.index.tracks(row):
            self.index.remove(row)
            del self._tokens[row]
            self._heard.pop(row, None)
        self.on = bool(self.index.rows)

    def share(self) -> float:
        """The share of nodes that report, 0..1."""
        return len(self.index.rows) / len(self._fleet.row_of) if self.on else 0.0

    def reports(self, row: int) -> bool:
        """Whether the node at `row` reports."""
        return self.on and self.index.tracks(row)

    def age(self, row: int, now: float) -> float | None:
        """Seconds since the node at `row` was heard; None if it never was."""
        heard = self._heard.get(row)
        return None if heard is None else now - heard

    def change(self, row: int, change: CacheChange, now: float) -> float:
        """Enter what the node at `row` reports; the tokens that it is known to hold now."""
        self._heard[row] = now
        self.index.change(row, change)
        before = 0.0 if change.cleared else self._tokens[row]
        self._tokens[row] = before + change.link_tokens * (len(change.came) - len(change.went))
        return self._tokens[row]

    def begun(self, lease: Lease) -> None:
        """The prompt of `lease` is sent to its node."""
        request = lease.ticket.request
        if not self.index.tracks(lease.row):
            return
        chains = tuple(chain.links for chain in (request.chain, request.token_chain) if chain is not None)
        self._running[lease.id] = self.index.begun(lease.row, chains)
        if request.token_chain is None:
            self.by_belief += 1
        else:
            self.by_report += 1

    def ended(self, lease: int) -> None:
        """What ran under `lease` runs no more. Repeating is harmless."""
        running = self._running.pop(lease, None)
        if running is not None:
            self.index.ended(running)

    def overlay(self, believed: list[float], ticket: Ticket) -> None:
        """Put what nodes report in the place of what is believed: tokens of the prompt held, one entry a row."""
        known = ticket.request.token_chain
        if known is None:
            return
        size, most, whole = len(believed), ticket.prompt_tokens, self.index.whole
        told, runs = [0.0] * size, [0.0] * size
        self.index.mark(told, known.links, known.tokens_per_link, most)
        self.index.mark(runs, _links(ticket), ticket.tokens_per_link, most)
        full = min(float(most), len(known.links) * known.tokens_per_link)
        for row in self.index.rows:
            held = max(told[row], runs[row])
            believes = row not in whole or told[row] >= full
            believed[row] = max(held, believed[row]) if believes else held

    def overlaid(self, believed: Floats, ticket: Ticket) -> Floats:
        """The same for many nodes, as a new array."""
        known = ticket.request.token_chain
        if known is None:
            return believed
        size, most = len(believed), ticket.prompt_tokens
        told = self.index.depths(known.links, size, known.tokens_per_link, most)
        runs = self.index.depths(_links(ticket), size, ticket.tokens_per_link, most)
        full = min(float(most), len(known.links) * known.tokens_per_link)
        held = np.maximum(told, runs)
        either = np.maximum(held, believed)
        reporting = self._rows(self.index.rows, size)
        by_report = reporting & self._rows(list(self.index.whole), size) & (told < full)
        return np.where(by_report, held, np.where(reporting, either, believed))

    def _rows(self, rows: Sequence[int], size: int) -> Any:
        flags = np.zeros(size, dtype=bool)
        flags[rows] = True
        return flags


def _links(ticket: Ticket) -> Sequence[int]:
    chain = ticket.request.chain
    return chain.links if chain is not None else ()
