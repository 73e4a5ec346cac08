"""Whatever happens in whatever order: accounts equal their leases, every request ends once, nothing is left at rest.

And nobody waits beside a node that would take him, unless the policy itself holds; nor longer than was said. A
thousand lives of thirty steps are tried, in about half a minute; `POINTSMAN_EXAMPLES=20000` asks for more of them. CI
tries the same ones each time, people's runs others each time.
"""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test
from tests.support.lives.nodes import Nodes
from tests.support.lives.settings import LONGEST_WAIT_S

from pointsman.brain.accounts import Accounts
from pointsman.brain.admission.fairness import FairShare
from pointsman.brain.admission.isolation import Isolation
from pointsman.brain.admission.quota import Quotas
from pointsman.brain.cache.pools.arena import Arena
from pointsman.brain.cache.pools.buddy import Buddy
from pointsman.brain.ledger import Booking, Ledger
from pointsman.brain.life.retry import RetryBudget
from pointsman.brain.tries import Tries
from pointsman.brain.waiting import WaitingRoom

LIVES = int(os.environ.get("POINTSMAN_EXAMPLES", "1000"))
LEASE_S = 7200.0


class Life(Nodes):
    """All of it, as time passes."""

    @rule(seconds=st.sampled_from([0.0, 0.01, 0.2, 1.0, 6.0, 40.0]))
    def tick(self, seconds: float) -> None:
        self.driver.tick(seconds)
        due = self.driver.dispatcher.next_deadline()
        assert due is None or due > self.driver.now, "a tick left something due"
        for ticket in self.driver.waiting - self.driver.dispatcher.waiting._patient:
            assert self.driver.now - self.driver.waits_since[ticket] <= LONGEST_WAIT_S, "a wait without end"

    @rule()
    def look_at_who_waits(self) -> None:
        self.nobody_waits_for_nothing()

    @rule()
    def nothing_is_heard_for_hours(self) -> None:
        """The ends of requests were lost on the way: they are over nevertheless."""
        before = set(self.driver.running)
        self.driver.tick(LEASE_S + 60.0)
        stuck = before & set(self.driver.running) - {order.lease for order in self.driver.late}
        assert not stuck, "a lease without end"

    @invariant()
    def books_agree(self) -> None:
        if hasattr(self, "driver"):
            self.driver.settled()
            waiting = self.driver.dispatcher.waiting
            for queue in waiting.queues.values():
                assert 0 < len(queue) <= self.longest_queue + len(waiting._patient)
                told = queue.first(len(queue))
                assert {ticket for _, ticket in told} == set(queue.tickets()), "somebody waits unseen"
                waits = self.driver.dispatcher.waits
                assert all(waits(ticket, self.driver.now).position == position for position, ticket in told)

    @invariant()
    def panic_is_told(self) -> None:
        """Observers know each model's panic, and a model in panic is served by whoever does not refuse."""
        if hasattr(self, "driver"):
            fleet = self.driver.dispatcher.fleet
            assert self.panicking == {model for model in "mn" if fleet.panics(model)}
            for model in self.panicking:
                willing = [row for row in fleet.members(model) if not fleet.refusing[row]]
                assert fleet.candidates(model)[0].tolist() == willing

    def teardown(self) -> None:
        if hasattr(self, "driver"):
            self.driver.slow = False
            self.driver.rest()


SETTINGS = settings(max_examples=LIVES, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
UNTIL_CAUGHT = settings(
    SETTINGS, max_examples=4000, database=None, print_blob=False, derandomize=True, phases=[Phase.generate]
)


@pytest.mark.timeout(120 + LIVES // 10)
def test_lives() -> None:
    run_state_machine_as_test(Life, settings=SETTINGS)


released = Ledger.release


def leaky(self: Ledger, booking: Booking, now: float) -> None:
    booking.context_tokens -= 1
    released(self, booking, now)


def forgetful(self: Tries, ticket: Any, lease: Any, outcome: Any, now: float) -> None:
    ticket.interruptions += 1
    ticket.failed_at = now


def nothing(*_: Any) -> None:
    """Forgets what it was told."""


LEAKS = [
    (Ledger, "release", leaky, "context_tokens"),
    (Arena, "release", nothing, "a lease that has ended holds memory"),
    (Buddy, "give", nothing, "row"),
    (Isolation, "ended", nothing, "a long prompt is still counted"),
    (RetryBudget, "done", nothing, "a retry is still counted"),
    (Quotas, "over", nothing, "a tenant's account"),
    (FairShare, "ended", nothing, "a tenant's account"),
    (Accounts, "over", nothing, "a tenant's account"),
    (WaitingRoom, "_time_out", nothing, "a wait without end"),
    (WaitingRoom, "pump", nothing, "a wait"),
    (Tries, "again", forgetful, "another rest"),
]


@pytest.mark.parametrize(
    ("part", "call", "planted", "cry"), LEAKS, ids=[f"{part.__name__}.{call}" for part, call, *_ in LEAKS]
)
def test_a_planted_leak_is_caught(part: Any, call: str, planted: Any, cry: str, monkeypatch: Any) -> None:
    """The properties are only worth something if they fail when an account leaks, or a ticket is lost."""
    monkeypatch.setattr(part, call, planted)
    with pytest.raises(AssertionError, match=cry):
        run_state_machine_as_test(Life, settings=UNTIL_CAUGHT)
