"""The dispatcher's calls and the orders that follow."""

import pytest
from tests.support.driver import FAILED, TestDriver, chain

from pointsman.brain.model.facts import Decided, Ended, Fact, NodeChanged, Placed, Refused
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.standing import Standing
from pointsman.brain.policies.registry import build


def fleet_of(*names: str, policy: str = "least_requests", slots: int = 8, **settings: object) -> TestDriver:
    driver = TestDriver(policy, **settings)
    for name in names:
        driver.add(name, slots=slots)
    return driver


def test_requests_in_one_instant_see_each_other() -> None:
    driver = fleet_of("a", "b", "c")
    nodes = [driver.node(driver.submit()) for _ in range(9)]
    assert {nodes.count(name) for name in "abc"} == {3}


def test_round_robin_counts_per_model() -> None:
    driver = TestDriver("round_robin")
    driver.add("a", "m", "n")
    driver.add("b", "m", "n")
    turns = [driver.node(driver.submit(model)) for model in ("m", "n", "m", "n")]
    assert turns == ["a", "a", "b", "b"]


def test_a_full_fleet_lets_wait_and_a_finish_starts_the_head() -> None:
    driver = fleet_of("a", slots=1)
    first, second, third = driver.submit(), driver.submit(), driver.submit()
    assert driver.waiting == {second, third}
    driver.finish(driver.lease_of(first))
    assert driver.node(second) == "a"
    assert driver.waiting == {third}


def test_the_queue_is_bounded() -> None:
    driver = fleet_of("a", slots=1, queue_limit=1)
    driver.submit()
    driver.submit()
    assert driver.ended[driver.submit()] == "queue_full"


def test_waiting_ends_at_its_time_limit() -> None:
    driver = fleet_of("a", slots=1, queue_timeout_s=5.0)
    driver.submit()
    waiting = driver.submit()
    driver.tick(4.9)
    assert waiting in driver.waiting
    driver.tick(0.2)
    assert driver.ended[waiting] == "queue_timeout"


def test_without_a_node_a_request_waits_and_is_refused_with_its_own_error() -> None:
    driver = TestDriver(queue_timeout_s=5.0)
    driver.add("a", up=True)
    driver.obey(driver.dispatcher.drain("a", 0.0))
    waiting = driver.submit()
    driver.tick(6.0)
    assert driver.ended[waiting] == "no_node_available"


def test_a_failed_try_goes_to_another_node_once() -> None:
    driver = fleet_of("a", "b", "c")
    ticket = driver.submit()
    first = driver.node(ticket)
    driver.finish(driver.lease_of(ticket), FAILED)
    second = driver.node(ticket)
    assert second != first
    driver.finish(driver.lease_of(ticket), FAILED)
    assert driver.ended[ticket] == "node_failed"


def test_a_time_out_has_its_own_error() -> None:
    driver = fleet_of("a")
    ticket = driver.submit()
    driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.FAIL, reason="first_token_timeout", delivered=False))
    assert driver.ended[ticket] == "node_timeout"


def test_nothing_is_tried_again_after_a_byte_was_delivered() -> None:
    driver = fleet_of("a", "b")
    ticket = driver.submit()
    driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.FAIL, reason="truncated", delivered=True))
    assert driver.ended[ticket] == Verdict.FAIL
    assert not driver.running


def test_the_only_node_is_not_asked_twice() -> None:
    driver = fleet_of("a")
    ticket = driver.submit()
    driver.finish(driver.lease_of(ticket), FAILED)
    assert driver.ended[ticket] == "node_failed"


def test_retries_stay_within_their_budget() -> None:
    driver = fleet_of("a", "b", "c", "d", slots=100, retry_share=0.0, retry_floor=2, fails_in_a_row=100, fail_share=1.0)
    tickets = [driver.submit() for _ in range(10)]
    for ticket in tickets:
        driver.finish(driver.lease_of(ticket), FAILED)
    assert len([ticket for ticket in tickets if ticket in driver.running.values()]) == 2


def test_three_failures_take_a_node_out_and_one_request_brings_it_back() -> None:
    driver = fleet_of("a", "b", "c", slots=20, ejection_s=10.0, slow_start_s=20.0)
    fleet = driver.dispatcher.fleet
    while fleet.states[0] is NodeState.UP:
        ticket = driver.submit()
        lease = driver.lease_of(ticket)
        driver.finish(lease, FAILED if driver.node(ticket) == "a" else Outcome(verdict=Verdict.OK))
    assert fleet.states[0] is NodeState.DOWN
    assert "a" not in {driver.node(driver.submit()) for _ in range(9)}
    driver.tick(13.0)
    driver.report("a")
    placed = [driver.submit() for _ in range(6)]
    on_trial = [ticket for ticket in placed if driver.node(ticket) == "a"]
    assert len(on_trial) == 1
    driver.finish(driver.lease_of(on_trial[0]))
    assert fleet.states[0] is NodeState.UP
    assert fleet.cap[0] == 2
    driver.tick(10.0)
    assert fleet.cap[0] == pytest.approx(20 * 0.55)


def test_the_last_nodes_are_never_taken_out() -> None:
    driver = fleet_of("a", "b")
    for _ in range(30):
        ticket = driver.submit()
        while ticket in driver.running.values():
            driver.finish(driver.lease_of(ticket), FAILED)
    assert NodeState.UP in driver.dispatcher.fleet.states


def test_back_pressure_holds_a_node_at_what_it_has_for_a_while() -> None:
    driver = fleet_of("a", "b", busy_s=5.0, slots=50)
    busy = Outcome(verdict=Verdict.BUSY, reason="status_429", status=429, delivered=True)
    ticket = next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a")
    driver.finish(driver.lease_of(ticket), busy)
    assert driver.dispatcher.fleet.states[0] is NodeState.UP
    held = list(driver.node_of.values()).count("a")
    for _ in range(10):
        driver.submit()
    assert list(driver.node_of.values()).count("a") <= max(1, held)
    driver.tick(6.0)
    assert "a" in {driver.node(driver.submit()) for _ in range(4)}


def test_a_draining_node_gets_nothing_and_a_removed_one_leaves_when_empty() -> None:
    driver = fleet_of("a", "b")
    on_a = next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a")
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    assert {driver.node(driver.submit()) for _ in range(4)} == {"b"}
    assert "a" in driver.dispatcher.fleet.row_of
    driver.finish(driver.lease_of(on_a))
    for lease in [lease for lease, node in driver.node_of.items() if node == "a"]:
        driver.finish(lease)
    assert "a" not in driver.dispatcher.fleet.row_of


def test_an_unknown_node_is_named_with_those_there_are() -> None:
    with pytest.raises(LookupError, match=r"no node 'z'; there are: a, b"):
        fleet_of("a", "b").dispatcher.drain("z", 0.0)


def test_cancel_works_waiting_and_placed_and_twice() -> None:
    driver = fleet_of("a", slots=1)
    placed, waiting, other = driver.submit(), driver.submit(), driver.submit()
    driver.cancel(waiting)
    driver.cancel(placed)
    assert driver.node(other) == "a"
    assert driver.dispatcher.cancel(placed, 0.0) == []


def test_follow_up_turns_find_their_cache() -> None:
    driver = fleet_of("a", "b", "c", policy="prefix_affinity", slots=50)
    first = driver.submit(tokens=100, chain=chain(1, 2, 3))
    again = driver.submit(tokens=200, chain=chain(1, 2, 3, 4, 5))
    assert driver.node(again) == driver.node(first)


def test_a_restart_empties_the_cache_of_its_node_only() -> None:
    driver = fleet_of("a", "b")
    index = driver.dispatcher.placement.index
    links = chain(1, 2).links
    for _ in range(2):
        driver.submit(chain=chain(1, 2))
    driver.report("a", started_at=1.0)
    assert index.depths(links, 2).tolist() == [2.0, 2.0]
    driver.report("a", started_at=2.0)
    assert index.depths(links, 2).tolist() == [0.0, 2.0]


def test_a_prompt_that_never_ran_is_not_believed_cached() -> None:
    driver = fleet_of("a", "b", policy="round_robin")
    ticket = driver.submit(chain=chain(1, 2), tokens=40)
    lease = driver.lease_of(ticket)
    driver.finish(lease, Outcome(verdict=Verdict.FAIL, reason="reset", delivered=True))
    assert not driver.dispatcher.placement.index.depths(chain(1, 2).links, 2).any()


def test_the_booking_of_a_plain_request_expires_at_its_predicted_prefill_end() -> None:
    driver = fleet_of("a")
    driver.submit(tokens=8000, stream=False)
    backlog = driver.dispatcher.fleet.columns.backlog_tokens
    assert backlog[0] == 8000
    driver.tick(0.5)
    assert backlog[0] == 8000
    driver.tick(1.0)
    assert backlog[0] == 0


def test_the_booking_of_a_stream_lasts_until_its_first_token() -> None:
    driver = fleet_of("a")
    ticket = driver.submit(tokens=8000)
    driver.tick(5.0)
    assert driver.dispatcher.fleet.columns.backlog_tokens[0] == 8000
    driver.first_token(driver.lease_of(ticket))
    assert driver.dispatcher.fleet.columns.backlog_tokens[0] == 0


def test_what_a_hanging_node_has_not_begun_is_tried_elsewhere() -> None:
    driver = fleet_of("a", "b")
    tickets = [driver.submit(stream=stream) for stream in (False, True, True, False, True, True)]
    on_a = [ticket for ticket in tickets if driver.node(ticket) == "a"]
    begun = on_a[0]
    driver.first_token(driver.lease_of(begun))
    driver.tick(30.0)
    for _ in range(4):
        driver.report("a", ok=False)
    assert driver.dispatcher.fleet.states[0] is NodeState.DOWN
    assert driver.node(begun) == "a"
    assert {driver.node(ticket) for ticket in on_a[1:]} == {"b"}


def test_policies_change_live_by_scope() -> None:
    driver = fleet_of("a", "b", slots=50)
    driver.obey(driver.dispatcher.set_policy("route:/pin", build("prefix_affinity"), 0.0))
    pinned = [driver.submit(route="/pin", chain=chain(1, 2), tokens=50) for _ in range(5)]
    assert len({driver.node(ticket) for ticket in pinned}) == 1
    spread = [driver.submit(chain=chain(1, 2), tokens=50) for _ in range(9)]
    assert len({driver.node(ticket) for ticket in spread}) == 2


def test_facts_tell_the_whole_life() -> None:
    facts: list[Fact] = []
    driver = TestDriver(observers=[facts.append])
    driver.add("a", slots=1)
    ticket = driver.submit(chain=chain(1))
    driver.now = 1.0
    driver.first_token(driver.lease_of(ticket))
    driver.now = 3.0
    driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.OK, completion_tokens=5))
    waiting = [driver.submit(), driver.submit()][1]
    driver.cancel(waiting)
    kinds = [type(fact).__name__ for fact in facts]
    assert kinds[:5] == ["NodeChanged", "Decided", "Placed", "FirstToken", "Ended"]
    ended = next(fact for fact in facts if isinstance(fact, Ended))
    assert (ended.seconds, ended.tpot_s, ended.final) == (3.0, 0.5, True)
    assert isinstance(facts[-1], Refused)
    assert next(fact for fact in facts if isinstance(fact, NodeChanged)).after == "up"
    assert next(fact for fact in facts if isinstance(fact, Decided)).chosen == 0
    assert next(fact for fact in facts if isinstance(fact, Placed)).attempt == 1


def test_deadlines_are_never_in_the_past_after_a_tick() -> None:
    driver = fleet_of("a", slots=1)
    driver.submit()
    driver.submit()
    for _ in range(50):
        due = driver.dispatcher.next_deadline()
        assert due is not None
        assert due >= driver.now
        driver.now = due
        driver.tick()


def test_probes_come_faster_when_a_node_is_in_doubt() -> None:
    driver = fleet_of("a")
    driver.probes.clear()
    driver.tick(20.0)
    calm = len(driver.probes)
    for _ in range(2):
        driver.report("a", ok=False)
    driver.probes.clear()
    for _ in range(20):
        driver.tick(1.0)
    assert len(driver.probes) > 3 * calm
    assert driver.dispatcher.fleet.states[0] is NodeState.SUSPECT


def test_failed_probes_mean_busy_while_tokens_flow() -> None:
    driver = fleet_of("a", "b")
    ticket = next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a")
    driver.first_token(driver.lease_of(ticket))
    for _ in range(4):
        driver.report("a", ok=False)
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_the_end_of_a_nodes_last_request_is_told_before_the_end_of_the_node() -> None:
    facts: list[Fact] = []
    driver = TestDriver(observers=[facts.append])
    driver.add("a")
    ticket = driver.submit()
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    facts.clear()
    driver.finish(driver.lease_of(ticket))
    assert [type(fact) for fact in facts] == [Ended, NodeChanged]


def test_a_policy_without_a_memo_leaves_the_memo_of_another_route() -> None:
    facts: list[Fact] = []
    driver = TestDriver(observers=[facts.append])
    driver.add("a", slots=100)
    driver.obey(driver.dispatcher.set_policy("route:/hybrid", build("hybrid"), 0.0))
    driver.report("a", load=0.95)
    driver.submit(route="/hybrid")
    driver.submit()
    driver.report("a", load=0.8)
    driver.submit(route="/hybrid")
    reasons = [fact.reason for fact in facts if isinstance(fact, Decided) and fact.policy == "hybrid"]
    assert reasons == ["recovery", "recovery"]


def test_a_retry_that_cost_its_node_nothing_leaves_the_budget_to_others() -> None:
    driver = fleet_of("a", "b", "c", slots=100, retry_share=0.0, retry_floor=1, fails_in_a_row=100, fail_share=1.0)
    refused = Outcome(verdict=Verdict.FAIL, reason="connect", delivered=False, free=True)
    tickets = [driver.submit() for _ in range(5)]
    for ticket in tickets[:3]:
        driver.finish(driver.lease_of(ticket), refused)
    for ticket in tickets[3:]:
        driver.finish(driver.lease_of(ticket), FAILED)
    assert driver.ended == {tickets[4]: "node_failed"}


def test_settings_changed_while_running_hold_from_then_on() -> None:
    driver = TestDriver(seed=7, queue_limit=0, tries=1)
    driver.add("a", slots=1)
    driver.add("b", slots=1)
    first, second = driver.submit(), driver.submit()
    assert driver.ended.get(driver.submit()) == "queue_full"
    changed = BrainSettings(seed=8, queue_limit=5, queue_timeout_s=2.0, tries=2, first_token_floor_s=3.0)
    driver.obey(driver.dispatcher.configure(changed, driver.now))
    assert driver.dispatcher.settings.seed == 7, "equal seeds give equal decisions, all along"
    waiting = driver.submit()
    driver.finish(driver.lease_of(first), FAILED)
    assert waiting in driver.running.values()
    assert first in driver.waiting, "it may be tried a second time now"
    driver.finish(driver.lease_of(second))
    assert first in driver.running.values()
    driver.rest()


def test_a_ramp_that_is_switched_off_is_over() -> None:
    driver = TestDriver(slow_start_s=30.0)
    driver.add("a", slots=10)
    driver.obey(driver.dispatcher.drain("a", 0.0))
    driver.obey(driver.dispatcher.undrain("a", 0.0))
    assert driver.dispatcher.fleet.cap[0] < 10
    driver.obey(driver.dispatcher.configure(BrainSettings(slow_start_s=0.0), 0.0))
    driver.tick(1.0)
    assert driver.dispatcher.fleet.cap[0] == 10


def test_back_pressure_is_told_at_once_where_no_other_node_is_in_use() -> None:
    """Waiting for a node that is down is for failures; a full node's client had better come again."""
    driver = TestDriver("least_requests", busy_s=0.0)
    driver.add("a")
    driver.add("b", up=False)
    busy = Outcome(verdict=Verdict.BUSY, reason="status_503", status=503, delivered=False)
    full = driver.submit()
    driver.finish(driver.lease_of(full), busy)
    assert full in driver.ended
    failed = driver.submit()
    driver.finish(driver.lease_of(failed), FAILED)
    assert failed in driver.waiting
    driver.report("b")
    assert driver.node(failed) == "b"
    another = driver.submit()
    while driver.node(another) == "b":
        another = driver.submit()
    driver.finish(driver.lease_of(another), busy)
    assert driver.node(another) == "b"


def test_where_one_stands_is_told_while_it_waits() -> None:
    driver = fleet_of("a", slots=1)
    first, second, third = driver.submit(), driver.submit(), driver.submit()

    def waits(ticket: int) -> Standing | None:
        return driver.dispatcher.waits(ticket, driver.now)

    assert (waits(first), waits(second), waits(99)) == (None, Standing(1, None), None)
    driver.tick(2.0)
    driver.finish(driver.lease_of(first))
    assert (waits(second), waits(third)) == (None, Standing(1, 2.0))
    driver.finish(driver.lease_of(second))
    driver.finish(driver.lease_of(third))
    assert waits(third) is None
