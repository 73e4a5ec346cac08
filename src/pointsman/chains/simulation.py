"""Jobs through parallel chains under a policy of the brain.

Only what the literature models is here: Poisson arrivals, exponential sizes, no failures, and the exact state at every
decision. A policy that places sends the job to a chain, where it runs or waits; one that holds leaves it in the central
queue, whose head is tried again whenever a job ends. Equal inputs give equal results.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from pointsman.brain.model.choice import Hold
from pointsman.brain.model.draw import draw
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Floats, View
from pointsman.brain.policies.base import Policy
from pointsman.chains.lane import Lane
from pointsman.chains.model import Chain
from pointsman.chains.sights import SIGHTS, Sight, Sightings

_JOB = Request(id="job", model="chains")


@dataclass(frozen=True, slots=True)
class Jobs:
    """`arrivals` in seconds, ascending, and `sizes` as shares of the mean service; one entry a job."""

    arrivals: Floats
    sizes: Floats


def poisson_jobs(random: np.random.Generator, rate: float, count: int) -> Jobs:
    """`count` jobs that arrive at `rate` per second, of sizes Exp(1). Draws depend on `random` and `count` alone."""
    gaps, sizes = random.exponential(size=count), random.exponential(size=count)
    return Jobs(gaps.cumsum() / rate, sizes)


def responses(chains: Sequence[Chain], policy: Policy, jobs: Jobs, *, seed: int, slowdown: float = 0.0) -> Floats:
    """Seconds from arrival to end, one entry a job.

    `slowdown`: how much of its mean service a job takes longer for each job that runs beside it on its chain.
    """
    run = _Run(chains, policy, jobs, seed, slowdown)
    for job, now in enumerate(jobs.arrivals.tolist()):
        run.end_until(now)
        run.submit(job, now)
    run.end_until(inf)
    return run.ended - jobs.arrivals


class _Run:
    """The state of one simulation; `ended` in seconds by job."""

    def __init__(self, chains: Sequence[Chain], policy: Policy, jobs: Jobs, seed: int, slowdown: float) -> None:
        self.ended = np.full(len(jobs.sizes), np.nan)
        self._policy = policy
        self._sizes: list[float] = jobs.sizes.tolist()
        self._seed = seed
        self._lanes = [Lane(chain, slowdown) for chain in chains]
        self._ends = [inf] * len(chains)
        self._held: deque[int] = deque()
        self._seen = Sightings(chains, SIGHTS.get(policy.name, Sight()))
        self._columns = self._seen.cells.columns()
        self._rows = np.arange(len(chains))
        self._nothing = np.zeros(len(chains))
        self._decisions = 0
        self._memo = None

    def submit(self, job: int, now: float) -> None:
        """A job arrives: behind those held, or to where the policy places it."""
        if self._held or not self._placed(job, now):
            self._held.append(job)

    def end_until(self, now: float) -> None:
        """All that ends by `now`, and what begins in its place."""
        while (when := min(self._ends)) <= now and when < inf:
            row = self._ends.index(when)
            self.ended[self._lanes[row].end(when)] = when
            self._changed(row)
            while self._held and self._placed(self._held[0], when):
                self._held.popleft()

    def _placed(self, job: int, now: float) -> bool:
        choice = self._policy.choose(_JOB, self._view(now))
        self._decisions += 1
        if choice.memo is not None:
            self._memo = choice.memo
        if isinstance(choice, Hold):
            return False
        self._lanes[choice.index].add(job, self._sizes[job], now)
        self._changed(choice.index)
        return True

    def _changed(self, row: int) -> None:
        lane = self._lanes[row]
        self._ends[row] = lane.next_end()
        self._seen.show(row, len(lane))

    def _view(self, now: float) -> View:
        return View(
            self._columns,
            self._rows,
            overlap=self._nothing,
            prompt_tokens=0.0,
            output_tokens=0.0,
            now=now,
            sequence=self._decisions,
            draw=draw(self._seed, self._decisions),
            memo=self._memo,
            whole=True,
        )
