"""A fleet on virtual time whose nodes answer at a pace of their own, as far as health and shares are concerned.

Requests come at random times; a node takes all it is given at once and answers each by itself.
"""

from heapq import heappop, heappush
from itertools import count

import numpy as np
from tests.support.driver import TestDriver

from pointsman.brain.model.outcome import Outcome, Verdict

FIRST_TOKEN_S = 0.05
PER_TOKEN_S = 1.0 / 10_000
GAP_S = 0.02
NOISE = 0.2
"""Standard deviation of the logarithm of times."""


class PacedFleet:
    """`pace[name]` is how many times longer than usual everything takes on a node, now."""

    def __init__(self, driver: TestDriver, pace: dict[str, float], *, rate: float, seed: int = 1) -> None:
        self.driver = driver
        self.pace = pace
        self._rate = rate
        self._random = np.random.default_rng(seed)
        self._events: list[tuple[float, int, str, int]] = []
        self._numbers = count()
        self._begun: set[int] = set()
        self.placed: list[str] = []
        for name in pace:
            driver.add(name)
        self._at(self.driver.now, "arrival", 0)

    def run(self, seconds: float) -> dict[str, float]:
        """Pass time; the share of each node in the requests placed meanwhile."""
        self.placed.clear()
        until = self.driver.now + seconds
        while self._next() <= until:
            self.driver.tick(max(0.0, self._next() - self.driver.now))
            self._answer_probes()
            while self._events and self._events[0][0] <= self.driver.now:
                _, _, what, lease = heappop(self._events)
                getattr(self, "_" + what)(lease)
            self._see_starts()
        self.driver.now = until
        return {name: self.placed.count(name) / max(1, len(self.placed)) for name in self.pace}

    def _next(self) -> float:
        due = self.driver.dispatcher.next_deadline()
        return min(self._events[0][0], due if due is not None else np.inf)

    def _answer_probes(self) -> None:
        while self.driver.probes:
            self.driver.report(self.driver.probes.pop())

    def _arrival(self, _: int) -> None:
        self.driver.submit(tokens=int(self._random.integers(50, 2000)))
        self._at(self.driver.now + self._random.exponential(1.0 / self._rate), "arrival", 0)

    def _see_starts(self) -> None:
        for lease in self.driver.running.keys() - self._begun:
            self._begun.add(lease)
            self.placed.append(self.driver.node_of[lease])
            tokens = self.driver.dispatcher._leases[lease].ticket.prompt_tokens
            self._after(lease, FIRST_TOKEN_S + PER_TOKEN_S * tokens, "first_token")

    def _first_token(self, lease: int) -> None:
        if lease in self.driver.running:
            self.driver.first_token(lease)
            self._after(lease, GAP_S * 49, "end")

    def _end(self, lease: int) -> None:
        if lease in self.driver.running:
            self.driver.finish(lease, Outcome(verdict=Verdict.OK, prompt_tokens=100, completion_tokens=50))

    def _after(self, lease: int, seconds: float, what: str) -> None:
        pace = self.pace[self.driver.node_of[lease]]
        self._at(self.driver.now + seconds * pace * np.exp(self._random.normal(0.0, NOISE)), what, lease)

    def _at(self, due: float, what: str, lease: int) -> None:
        heappush(self._events, (due, next(self._numbers), what, lease))
