"""A day at the dispatcher's: random but reproducible calls, whatever policy decides."""

import numpy as np
from tests.support.driver import TestDriver, chain

from pointsman.brain.model.outcome import Outcome, Verdict

NODES = ("a", "b", "c", "d")
SESSIONS = 20


class RandomDay:
    """Requests of 20 sessions to 4 small nodes; some fail, some are cancelled, nodes are drained and come back."""

    def __init__(self, driver: TestDriver, seed: int) -> None:
        self.driver = driver
        self.random = np.random.default_rng(seed)

    def run(self, steps: int) -> None:
        """Add the nodes, then make `steps` random calls, ticking whenever a deadline passes."""
        for name in NODES:
            self.driver.add(name, slots=3)
        actions = (self.submit, self.first_token, self.end, self.cancel, self.toggle_node)
        for _ in range(steps):
            self.pass_time(float(self.random.exponential(0.05)))
            actions[self.random.choice(len(actions), p=(0.45, 0.2, 0.3, 0.03, 0.02))]()

    def pass_time(self, seconds: float) -> None:
        driver, until = self.driver, self.driver.now + seconds
        while (due := driver.dispatcher.next_deadline()) is not None and due <= until:
            driver.tick(max(0.0, due - driver.now))
            while driver.probes:
                driver.report(driver.probes.pop())
        driver.now = until

    def submit(self) -> None:
        session, links = int(self.random.integers(SESSIONS)), 1 + int(self.random.integers(12))
        steps = range(1000 * session, 1000 * session + links)
        self.driver.submit(tokens=64 * links, chain=chain(*steps), session=f"s{session}")

    def first_token(self) -> None:
        if self.driver.running:
            self.driver.first_token(self._some_lease())

    def end(self) -> None:
        if self.driver.running:
            self.driver.finish(self._some_lease(), self._outcome())

    def cancel(self) -> None:
        if self.driver.waiting:
            self.driver.cancel(min(self.driver.waiting))

    def toggle_node(self) -> None:
        driver, node = self.driver, NODES[self.random.integers(len(NODES))]
        driver.obey(driver.dispatcher.drain(node, driver.now))
        driver.obey(driver.dispatcher.undrain(node, driver.now))

    def _outcome(self) -> Outcome:
        verdict = (*[Verdict.OK] * 8, Verdict.FAIL, Verdict.BUSY)[self.random.integers(10)]
        if verdict is not Verdict.OK:
            return Outcome(verdict=verdict, reason="reset", delivered=False)
        return Outcome(verdict=verdict, prompt_tokens=100, completion_tokens=int(self.random.integers(1, 50)))

    def _some_lease(self) -> int:
        leases = list(self.driver.running)
        return leases[int(self.random.integers(len(leases)))]
