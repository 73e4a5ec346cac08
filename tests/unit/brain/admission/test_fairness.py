"""Fair shares by the Virtual Token Counter."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.admission.fairness import INPUT_WEIGHT, OUTPUT_WEIGHT, FairShare, TokenCounters
from pointsman.brain.admission.order import Fair, Order, Waiter
from pointsman.brain.admission.queue import Queue
from pointsman.brain.model.outcome import CANCELLED, Outcome, Verdict

SLOTS = 10


class Engine:
    """Ten places, a token each a step, and a queue that two tenants keep filled unequally: "a" ten times as eager."""

    def __init__(self, order: str, weights: dict[str, float], sizes: list[tuple[int, int]]) -> None:
        self.fair = FairShare(weights)
        self.queue = Queue(Fair(self.fair.counters("m")) if order == "fair" else Order(), overtake_limit=10**9)
        self.sizes = sizes
        self.tenant: dict[int, str] = {}
        self.left: dict[int, int] = {}
        self.had: Counter[str] = Counter()
        self.waiting: Counter[str] = Counter()
        self.tickets = 0

    def join(self, tenant: str, count: int) -> None:
        for _ in range(count):
            self.tickets += 1
            self.tenant[self.tickets] = tenant
            self.waiting[tenant] += 1
            self.queue.join(Waiter(self.tickets, tenant))

    def step(self) -> None:
        while len(self.left) < SLOTS and self.queue:
            ticket = self.queue.head
            prompt, output = self.size(ticket)
            self.fair.begun(ticket, "m", self.tenant[ticket], prompt)
            self.queue.take(ticket)
            self.waiting[self.tenant[ticket]] -= 1
            self.had[self.tenant[ticket]] += int(INPUT_WEIGHT * prompt)
            self.left[ticket] = output
        for ticket in list(self.left):
            self.fair.tokens(ticket, 1)
            self.had[self.tenant[ticket]] += int(OUTPUT_WEIGHT)
            self.left[ticket] -= 1
            if not self.left[ticket]:
                del self.left[ticket]
                prompt, output = self.size(ticket)
                done = Outcome(verdict=Verdict.OK, prompt_tokens=prompt, cached_tokens=0, completion_tokens=output)
                self.fair.ended(ticket, done)

    def size(self, ticket: int) -> tuple[int, int]:
        return self.sizes[ticket % len(self.sizes)]

    def bound(self) -> float:
        """2·max(w_in·L_in, w_out·M) for the most tokens that can be in flight."""
        longest = max(prompt for prompt, _ in self.sizes)
        return 2.0 * max(INPUT_WEIGHT * longest, OUTPUT_WEIGHT * SLOTS * max(map(sum, self.sizes)))


def worst_gap(order: str, sizes: list[tuple[int, int]], steps: int) -> tuple[float, float]:
    """The widest gap in service of the two while both wait, and the stated bound."""
    engine = Engine(order, {}, sizes)
    worst = 0.0
    for _ in range(steps):
        if engine.waiting["b"] < SLOTS:
            engine.join("a", 100)
            engine.join("b", 10)
        engine.step()
        worst = max(worst, abs(engine.had["a"] - engine.had["b"]))
    return worst, engine.bound()


def test_an_eager_tenant_is_within_the_bound_where_first_come_first_served_breaks_it_five_fold() -> None:
    sizes = [(60, 40)]
    gap, bound = worst_gap("fair", sizes, 1200)
    assert gap <= bound
    gap, bound = worst_gap("fcfs", sizes, 1200)
    assert gap > 5 * bound


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 200), st.integers(1, 20)), min_size=1, max_size=5))
def test_the_bound_holds_whatever_the_sizes(sizes: list[tuple[int, int]]) -> None:
    gap, bound = worst_gap("fair", sizes, 60)
    assert gap <= bound


def test_a_tenant_of_twice_the_weight_gets_twice_as_much() -> None:
    engine = Engine("fair", {"a": 2.0}, [(20, 10)])
    engine.join("a", 400)
    engine.join("b", 400)
    for _ in range(200):
        engine.step()
    assert engine.had["a"] / engine.had["b"] == pytest.approx(2.0, rel=0.1)


def test_a_tenant_that_returns_takes_no_more_than_its_share() -> None:
    engine = Engine("fair", {}, [(20, 10)])
    engine.join("a", 600)
    engine.join("b", 1)
    for _ in range(200):
        engine.step()
    before = Counter(engine.had)
    engine.join("b", 300)
    for _ in range(200):
        engine.step()
    share = (engine.had["b"] - before["b"]) / (engine.had.total() - before.total())
    assert share == pytest.approx(0.5, abs=0.06)


def test_the_first_after_an_empty_queue_starts_where_the_last_one_left() -> None:
    counters = TokenCounters({})
    counters.begun("a")
    counters.charge("a", 500.0)
    counters.joined("b")
    assert counters.of("b") == 500.0


def test_what_an_engine_had_cached_is_given_back_and_what_it_says_it_made_is_charged() -> None:
    fair = FairShare({})
    fair.counters("m").joined("t")
    fair.begun(1, "m", "t", 100)
    fair.tokens(1, 5)
    assert fair.counters("m").of("t") == 110.0
    fair.ended(1, Outcome(verdict=Verdict.OK, prompt_tokens=120, cached_tokens=80, completion_tokens=7))
    assert fair.counters("m").of("t") == 40.0 + 14.0
    fair.ended(1, CANCELLED)
    assert fair.counters("m").of("t") == 54.0
    fair.counters("m").left("t")
    assert fair.at_rest()


def test_a_try_that_failed_costs_its_tenant_nothing_and_one_it_cancelled_what_was_done() -> None:
    fair = FairShare({})
    fair.counters("m").joined("t")
    fair.begun(1, "m", "t", 100)
    fair.ended(1, Outcome(verdict=Verdict.FAIL, delivered=False))
    assert fair.counters("m").of("t") == 0.0
    fair.begun(2, "m", "t", 100)
    fair.tokens(2, 3)
    fair.ended(2, CANCELLED)
    assert fair.counters("m").of("t") == 106.0


def test_a_stream_that_was_interrupted_is_charged_to_the_token() -> None:
    """Tokens are told in batches; what had come when its node was taken away is known exactly."""
    fair = FairShare({})
    fair.counters("m").joined("t")
    fair.begun(1, "m", "t", 100)
    fair.tokens(1, 9)
    fair.ended(1, Outcome(verdict=Verdict.INTERRUPTED, delivered=True, resumable=True, new_tokens=40))
    assert fair.counters("m").of("t") == 100.0 + 80.0


def test_new_weights_apply_to_what_comes() -> None:
    fair = FairShare({})
    fair.begun(1, "m", "t", 100)
    fair.configure({"t": 10.0})
    fair.tokens(1, 50)
    assert fair.counters("m").of("t") == 110.0
