"""A small driver for the brain: random but reproducible calls, on a clock of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort, Order, Probe, Refuse, Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Chain, Request

MODEL = "m"


class RandomDay:
    """Requests of 20 sessions to 4 small nodes; some fail, some are cancelled, nodes are drained and come back."""

    def __init__(self, dispatcher: Any, seed: int) -> None:
        self.dispatcher = dispatcher
        self.random = np.random.default_rng(seed)
        self.now = 0.0
        self.requests = 0
        self.tickets: dict[int, int] = {}  # lease -> ticket
        self.waiting: set[int] = set()

    def run(self, steps: int) -> None:
        """Add the nodes, then make `steps` random calls, ticking whenever a deadline passes."""
        for i in range(4):
            self.obey(self.dispatcher.add_node(NodeSpec(url=f"http://{i}", models=(MODEL,), slots=3), self.now))
        actions = [self.submit, self.first_token, self.end, self.cancel, self.toggle_node]
        for _ in range(steps):
            self.pass_time(float(self.random.exponential(0.05)))
            actions[self.random.choice(len(actions), p=(0.45, 0.2, 0.3, 0.03, 0.02))]()

    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while (due := self.dispatcher.next_deadline()) is not None and due <= until:
            self.now = max(self.now, due)
            self.obey(self.dispatcher.tick(self.now))
        self.now = until

    def obey(self, orders: list[Order]) -> None:
        for order in orders:
            if isinstance(order, Start):
                self.waiting.discard(order.ticket)
                self.tickets[order.lease] = order.ticket
            elif isinstance(order, Refuse):
                self.waiting.discard(order.ticket)
            elif isinstance(order, Probe):
                self.obey(self.dispatcher.report(NodeReport(node=order.node.name, ok=True), self.now))
            elif isinstance(order, Abort):
                self.finish(order.lease, Outcome(verdict=Verdict.FAIL, reason="aborted"))

    def submit(self) -> None:
        self.requests += 1
        session = int(self.random.integers(20))
        links = [session * 1000 + i for i in range(1 + int(self.random.integers(12)))]
        request = Request(
            id=f"r{self.requests}",
            model=MODEL,
            prompt_tokens=64.0 * len(links),
            chain=Chain("bytes", links, 64.0),
            session=f"s{session}",
            stream=True,
        )
        orders = self.dispatcher.submit(request, self.now)
        if not isinstance(orders[0], Start | Refuse):
            self.waiting.add(orders[0].ticket)  # type: ignore[union-attr]
        self.obey(orders)

    def first_token(self) -> None:
        if self.tickets:
            self.obey(self.dispatcher.first_token(self._some_lease(), self.now))

    def end(self) -> None:
        if not self.tickets:
            return
        verdict = self.random.choice([Verdict.OK] * 8 + [Verdict.FAIL, Verdict.BUSY])
        delivered = verdict is Verdict.OK
        usage = {"prompt_tokens": 100, "completion_tokens": int(self.random.integers(1, 50))} if delivered else {}
        self.finish(self._some_lease(), Outcome(verdict=Verdict(verdict), delivered=delivered, **usage))

    def finish(self, lease: int, outcome: Outcome) -> None:
        self.tickets.pop(lease, None)
        self.obey(self.dispatcher.finished(lease, outcome, self.now))

    def cancel(self) -> None:
        if self.waiting:
            ticket = min(self.waiting)
            self.waiting.discard(ticket)
            self.obey(self.dispatcher.cancel(ticket, self.now))

    def toggle_node(self) -> None:
        node = f"http://{self.random.integers(4)}"
        self.obey(self.dispatcher.drain(node, self.now))
        self.obey(self.dispatcher.undrain(node, self.now))

    def _some_lease(self) -> int:
        leases = list(self.tickets)
        return leases[int(self.random.integers(len(leases)))]


@pytest.fixture
def random_day() -> Callable[..., Any]:
    return RandomDay
