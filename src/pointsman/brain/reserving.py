"""What live requests are counted with of a node's memory while they go on: the rule of reserve `peak`.

Strategy: a request is booked with its prompt and the answer that is expected when it begins. Where answers differ a
hundredfold, some hold more than that before long; and to keep the longest answer for everyone leaves memory empty that
others could use, since most are gone when the longest needs it. So this rule looks, from time to time, at all requests
of a node together, at the moment when they are expected to hold most. All streams of an engine advance by a token a
step, so `h` tokens from now stream i is expected to hold

    held_i(h) = (prompt_i + produced_i + h)·P(L > produced_i + h | L > produced_i)
    peak = max over h of [Σ held_i(h) + margin·sqrt(Σ variance_i(h))]

L being the lengths of answers of its tenant and model of late, and each is counted with its part of the peak. It is the
estimate of the past-future scheduler (R. Gong et al., "Past-Future Scheduler for LLM Serving under SLA Guarantees",
ASPLOS 2025), which draws one length for each request instead of summing over all. A request that begins is booked as
ever, and counted anew the next time.

Everything is worked out for the whole fleet in arrays of (requests x horizons). Nodes that do not keep pages are left
alone: what a request has there is a piece of a given size.
"""

from collections.abc import Collection
from typing import Final

import numpy as np

from pointsman.brain.estimates import Estimates
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease
from pointsman.brain.load.output_length import OutputLength
from pointsman.brain.model.columns import Floats, Rows
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.placement import Placement

HORIZONS: Final = np.concatenate(([0.0], 2.0 ** np.arange(4.0, 17.0, 0.5)))
"""Tokens from now at which it is looked: a coarser grid shifts the peak by less than lengths are known."""
LEAST_PACE: Final = 1e-4
"""Seconds per token below which no engine goes, whatever is believed of it."""


class Reserving:
    """Mutates the blocks of leases, and with them what the pool has reserved. `on`: whether the rule is `peak`."""

    def __init__(self, settings: BrainSettings, fleet: Fleet, placement: Placement, estimates: Estimates) -> None:
        self._fleet = fleet
        self._pool = placement.pool
        self._lengths: OutputLength = estimates.output_length
        self.configure(settings)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on. What is reserved stays until it is counted anew, or given back."""
        self.on = settings.reserve == "peak"
        self._margin = settings.reserve_margin

    def renew(self, leases: Collection[Lease], now: float) -> None:
        """Count all of `leases` with their part of their node's peak."""
        arenas = self._pool.arenas
        paged = [lease for lease in leases if lease.row not in arenas]
        if not paged:
            return
        rows = np.array([lease.row for lease in paged], dtype=np.intp)
        context = np.array([float(lease.ticket.prompt_tokens) for lease in paged])
        produced = np.array([self._produced(lease, now) for lease in paged])
        alive = self._alive(paged, produced)
        tokens = shares_of_peak((context + produced)[:, None] + HORIZONS, alive, rows, self._margin)
        for lease, share in zip(paged, tokens.tolist(), strict=True):
            lease.blocks = self._pool.change(lease.row, lease.blocks, share)

    def _produced(self, lease: Lease, now: float) -> float:
        """Tokens of the answer: as many as were told, or as many as there was time for since it began."""
        if lease.first_at is not None:
            begun = lease.first_at
        elif lease.ticket.request.stream:
            return 0.0
        else:
            begun = lease.started + lease.expected_s
        cells, row = self._fleet.cells, lease.row
        pace = cells.tpot_base[row] + cells.tpot_per_sequence[row] * cells.running[row]
        pace += cells.tpot_per_context[row] * cells.context_tokens[row]
        return max(float(lease.tokens), (now - begun) / max(pace, LEAST_PACE), 0.0)

    def _alive(self, leases: list[Lease], produced: Floats) -> Floats:
        """For each lease and horizon the probability that its answer goes on until then."""
        groups: dict[tuple[str, str], list[int]] = {}
        for number, lease in enumerate(leases):
            request = lease.ticket.request
            groups.setdefault((request.model, request.tenant), []).append(number)
        alive = np.empty((len(leases), len(HORIZONS)))
        for (model, tenant), numbers in groups.items():
            alive[numbers] = self._lengths.going_on(model, tenant, produced[numbers], HORIZONS)
        limits = np.array([_limit(lease) for lease in leases])
        alive[produced[:, None] + HORIZONS >= limits[:, None]] = 0.0
        alive[:, 0] = 1.0
        return alive


def shares_of_peak(held: Floats, alive: Floats, rows: Rows, margin: float) -> Floats:
    """What each request has of the peak of its row: tokens, one a request.

    `held` is what it holds at each horizon if it goes on until then, with the probabilities `alive`; `rows` are where
    the requests are, `margin` how many standard deviations are to be added to the means.
    """
    expected = held * alive
    mean = np.zeros((int(rows.max()) + 1, held.shape[1]))
    variance = np.zeros_like(mean)
    np.add.at(mean, rows, expected)
    np.add.at(variance, rows, expected * (held - expected))
    peak = mean + margin * np.sqrt(variance)
    at = peak.argmax(axis=1)
    every = np.arange(len(at))
    beyond = peak[every, at] / np.maximum(mean[every, at], 1.0)
    shares: Floats = expected[np.arange(len(rows)), at[rows]] * beyond[rows]
    return shares


def _limit(lease: Lease) -> float:
    most = lease.ticket.request.max_tokens
    return float("inf") if most is None else float(most - lease.ticket.delivered_tokens)
