"""Nodes join, report, fall, return and leave."""

import msgspec
import numpy as np
import pytest
from tests.support.driver import FAILED, TestDriver

from pointsman.brain.model.facts import LoadUnknown, NodeChanged, PanicChanged, ProbeFailed
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Probe
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.policies.registry import POLICIES


@pytest.fixture
def driver() -> TestDriver:
    driver = TestDriver()
    driver.add("a", slots=None)
    driver.add("b", slots=10)
    return driver


def test_a_new_node_is_probed_at_once() -> None:
    dispatcher = TestDriver().dispatcher
    spec = NodeSpec(url="http://x")
    assert dispatcher.add_node(spec, 0.0) == [Probe(spec)]
    assert dispatcher.fleet.states[0] is NodeState.JOINING


def test_models_are_learned_unless_they_are_declared(driver: TestDriver) -> None:
    spec = NodeSpec(url="http://c", id="c")
    driver.obey(driver.dispatcher.add_node(spec, 0.0))
    assert not driver.dispatcher.knows("found")
    driver.report("c", models=("found", "lora"))
    driver.report("a", models=("found",))
    assert driver.dispatcher.models() == ["found", "lora", "m"]
    assert driver.dispatcher.available("found") == 1


def test_what_is_declared_wins_over_what_is_reported(driver: TestDriver) -> None:
    driver.report("a", slots=7)
    driver.report("b", slots=7)
    assert driver.dispatcher.fleet.columns.slots[:2].tolist() == [7, 10]


def test_capacity_follows_the_engine(driver: TestDriver) -> None:
    driver.report("a", kv_blocks=500, block_tokens=32)
    columns = driver.dispatcher.fleet.columns
    assert columns.kv_capacity[0] == 500
    assert columns.block_tokens[0] == 32


def test_weight_caps_what_a_node_may_hold(driver: TestDriver) -> None:
    driver.obey(driver.dispatcher.set_weight("b", 0.2, 0.0))
    for _ in range(12):
        driver.submit()
    assert list(driver.node_of.values()).count("b") == 2
    with pytest.raises(ValueError, match="above 0"):
        driver.dispatcher.set_weight("b", 0.0, 0.0)


def test_a_failed_status_query_sets_load_to_one(driver: TestDriver) -> None:
    driver.report("a", load=0.3)
    assert driver.dispatcher.estimates.load()[0] == pytest.approx(0.3)
    driver.report("a", ok=False)
    assert driver.dispatcher.estimates.load()[0] == 1.0


def test_a_dead_node_is_out_after_four_probes_and_joins_again_after_its_time(driver: TestDriver) -> None:
    states = driver.dispatcher.fleet.states
    for _ in range(4):
        driver.report("a", ok=False)
    assert states[0] is NodeState.DOWN
    driver.report("a")
    assert states[0] is NodeState.DOWN
    driver.tick(13.0)
    driver.report("a")
    assert states[0] is NodeState.JOINING


def test_a_suspect_node_is_used_when_nothing_else_is_there(driver: TestDriver) -> None:
    for _ in range(2):
        driver.report("a", ok=False)
    assert driver.node(driver.submit()) == "b"
    driver.obey(driver.dispatcher.drain("b", 0.0))
    assert driver.node(driver.submit()) == "a"


def test_an_idle_node_leaves_at_once_and_its_name_is_free(driver: TestDriver) -> None:
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    assert "a" not in driver.dispatcher.fleet.row_of
    driver.add("a")
    assert driver.dispatcher.available("m") == 2


def test_a_report_of_a_node_that_left_is_passed_over(driver: TestDriver) -> None:
    assert driver.dispatcher.report(NodeReport(node="gone", ok=True), 0.0) == []


def test_undrain_takes_back_a_removal(driver: TestDriver) -> None:
    ticket = next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a")
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    driver.obey(driver.dispatcher.undrain("a", 0.0))
    driver.finish(driver.lease_of(ticket))
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_unstated_slots_are_the_mean_requests_that_fit_the_memory() -> None:
    driver = TestDriver()
    driver.add("a", kv_tokens=64_000)
    driver.add("b", kv_tokens=64_000, slots=7)
    driver.add("c")
    for _ in range(30):
        ticket = driver.submit(tokens=300)
        driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.OK, completion_tokens=20))
    driver.tick(1.0)
    assert driver.dispatcher.fleet.columns.slots[:3].tolist() == [200.0, 7.0, 64.0]
    assert driver.dispatcher.fleet.cap[0] == 200.0


@pytest.mark.parametrize(("nodes", "most_out"), [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)])
def test_failing_requests_take_out_at_most_half_of_the_nodes(nodes: int, most_out: int) -> None:
    driver = TestDriver()
    for number in range(nodes):
        driver.add(f"n{number}")
    for row in range(nodes):
        for _ in range(3):
            driver.dispatcher.membership.ended(row, FAILED, 0.0)
    assert driver.dispatcher.fleet.states.count(NodeState.DOWN) == most_out


@pytest.mark.parametrize("field", ["slots", "kv_blocks", "block_tokens"])
def test_a_report_of_no_room_at_all_says_nothing(driver: TestDriver, field: str) -> None:
    before = driver.dispatcher.fleet.columns.gather(np.array([0]))
    driver.report("a", **{field: 0})
    after = driver.dispatcher.fleet.columns.gather(np.array([0]))
    for column in ("slots", "kv_capacity", "block_tokens"):
        assert getattr(after, column) == getattr(before, column)
    driver.submit()


def test_the_answer_that_brings_a_node_back_is_its_response_time(driver: TestDriver) -> None:
    for _ in range(4):
        driver.report("a", ok=False)
    driver.tick(13.0)
    driver.report("a")
    ticket = next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a")
    driver.now += 0.7
    driver.first_token(driver.lease_of(ticket))
    driver.finish(driver.lease_of(ticket))
    assert driver.dispatcher.fleet.states[0] is NodeState.UP
    assert driver.dispatcher.fleet.columns.response_seconds[0] == pytest.approx(0.7)


def test_undrain_shortens_no_time_out(driver: TestDriver) -> None:
    for _ in range(4):
        driver.report("a", ok=False)
    driver.obey(driver.dispatcher.undrain("a", 0.0))
    assert driver.dispatcher.fleet.states[0] is NodeState.DOWN


def test_a_node_that_lists_no_models_stays_joining_until_it_does() -> None:
    facts: list[object] = []
    driver = TestDriver(observers=[facts.append])
    driver.obey(driver.dispatcher.add_node(NodeSpec(url="http://c", id="c"), 0.0))
    for models in (None, ()):
        driver.report("c", models=models)
        assert driver.dispatcher.fleet.states[0] is NodeState.JOINING
    assert facts == [ProbeFailed(0.0, "c", "joining", "it lists no models", "http://c")] * 2
    driver.report("c", models=("m",), running=0)
    assert facts[2:] == [NodeChanged(0.0, "c", "joining", "up", "admitted", url="http://c")]


def test_a_good_probe_without_a_load_is_told() -> None:
    facts: list[object] = []
    driver = TestDriver(observers=[facts.append])
    driver.add("a")
    facts.clear()
    driver.report("a", running=0)
    driver.report("a", load=0.5)
    assert not facts
    driver.report("a")
    assert facts == [LoadUnknown(0.0, "a")]


def test_why_a_node_falls_is_told() -> None:
    facts: list[object] = []
    driver = TestDriver(observers=[facts.append])
    driver.add("a")
    facts.clear()
    for _ in range(2):
        driver.report("a", ok=False, reason="refused")
    assert facts == [
        ProbeFailed(0.0, "a", "up", "refused", "http://a"),
        ProbeFailed(0.0, "a", "up", "refused", "http://a"),
        NodeChanged(0.0, "a", "up", "suspect", "probed_badly", "refused", "http://a"),
        PanicChanged(0.0, "m", True, 0, 1),
    ]


def on(driver: TestDriver, name: str) -> int:
    """A ticket that runs on the node."""
    return next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == name)


def add_again(driver: TestDriver, **more: object) -> None:
    spec = NodeSpec(**{"url": "http://a", "id": "a", "models": ("m",)} | more)  # type: ignore[arg-type]
    driver.obey(driver.dispatcher.add_node(spec, driver.now))


def test_a_node_added_while_it_leaves_stays(driver: TestDriver) -> None:
    ticket = on(driver, "a")
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    add_again(driver, slots=3)
    assert driver.dispatcher.fleet.states[0] is NodeState.UP
    assert driver.dispatcher.fleet.columns.slots[0] == 3
    driver.finish(driver.lease_of(ticket))
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_a_node_that_only_drains_keeps_its_id(driver: TestDriver) -> None:
    driver.obey(driver.dispatcher.drain("a", 0.0))
    with pytest.raises(ValueError, match="already a node 'a'"):
        add_again(driver)


def test_another_address_under_the_id_of_a_leaving_node_is_a_node_of_its_own(driver: TestDriver) -> None:
    ticket = on(driver, "a")
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    add_again(driver, url="http://elsewhere")
    driver.report("a")
    fleet = driver.dispatcher.fleet
    assert {name: str(fleet.states[row]) for name, row in fleet.row_of.items()} == {
        "a (replaced 0)": "draining",
        "b": "up",
        "a": "up",
    }
    assert fleet.spec(fleet.row_of["a"]).url == "http://elsewhere"
    driver.finish(driver.lease_of(ticket))
    assert sorted(fleet.row_of) == ["a", "b"]


def test_another_address_for_a_node_in_use_lets_the_one_before_finish(driver: TestDriver) -> None:
    ticket = on(driver, "a")
    driver.obey(driver.dispatcher.declare_node(NodeSpec(url="http://new", id="a", models=("m",)), 0.0))
    assert driver.probes.count("a") == 2
    driver.report("a")
    assert sorted(driver.dispatcher.fleet.row_of) == ["a", "a (replaced 0)", "b"]
    assert driver.dispatcher.available("m") == 2
    driver.finish(driver.lease_of(ticket))
    driver.rest()
    assert sorted(driver.dispatcher.fleet.row_of) == ["a", "b"]


def test_a_full_fleet_has_no_room_for_a_node_and_the_one_before(driver: TestDriver) -> None:
    driver.dispatcher.fleet.capacity = 2
    with pytest.raises(ValueError, match="no room for two nodes 'a'"):
        driver.dispatcher.declare_node(NodeSpec(url="http://new", id="a"), 0.0)
    assert sorted(driver.dispatcher.fleet.row_of) == ["a", "b"]


def test_a_node_is_weighed_anew_where_it_stands(driver: TestDriver) -> None:
    before = driver.dispatcher.fleet.spec(1)
    driver.obey(driver.dispatcher.declare_node(msgspec.structs.replace(before, weight=0.2), 0.0))
    assert driver.dispatcher.fleet.cap[1] == 2.0
    assert driver.dispatcher.fleet.states[1] is NodeState.UP


def test_slots_that_are_declared_no_more_are_learned(driver: TestDriver) -> None:
    before = driver.dispatcher.fleet.spec(1)
    driver.obey(driver.dispatcher.declare_node(msgspec.structs.replace(before, slots=None), 0.0))
    assert driver.dispatcher.fleet.cap[1] == 10.0
    driver.report("b", slots=7)
    assert driver.dispatcher.fleet.cap[1] == 7.0


def test_a_declared_node_is_there(driver: TestDriver) -> None:
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    for name in ("a", "z"):
        driver.obey(driver.dispatcher.declare_node(NodeSpec(url=f"http://{name}", id=name, models=("m",)), 0.0))
        driver.report(name)
    assert driver.dispatcher.available("m") == 3


def test_a_declared_node_that_is_leaving_stays_and_one_that_drains_drains_on(driver: TestDriver) -> None:
    on(driver, "a")
    on(driver, "b")
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    driver.obey(driver.dispatcher.drain("b", 0.0))
    for row in range(2):
        driver.obey(driver.dispatcher.declare_node(driver.dispatcher.fleet.spec(row), 0.0))
    assert driver.dispatcher.fleet.states == [NodeState.UP, NodeState.DRAINING]


def test_while_tokens_flow_a_failed_or_late_probe_means_busy(driver: TestDriver) -> None:
    for _ in range(3):
        driver.report("a", seconds=0.01)
    lease = driver.lease_of(next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a"))
    driver.first_token(lease)
    for _ in range(6):
        driver.tick(4.0)
        driver.obey(driver.dispatcher.tokens(lease, 16, driver.now))
        driver.tick(4.0)
        driver.report("a", ok=False, reason="timeout", seconds=5.0)
        driver.report("a", seconds=5.0)
        assert driver.dispatcher.fleet.states[0] is NodeState.UP
    driver.tick(1.1)
    driver.report("a", ok=False, reason="timeout", seconds=5.0)
    assert driver.dispatcher.fleet.states[0] is NodeState.SUSPECT


def test_refused_probes_count_though_the_last_streams_still_flow(driver: TestDriver) -> None:
    """An engine that shuts down gently has closed its door before its last stream ends."""
    lease = driver.lease_of(next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == "a"))
    driver.first_token(lease)
    for _ in range(2):
        driver.report("a", ok=False, reason="refused")
    assert driver.dispatcher.fleet.states[0] is NodeState.SUSPECT


def test_two_abnormally_late_probes_make_a_node_suspect() -> None:
    facts: list[object] = []
    driver = TestDriver(observers=[facts.append])
    for name in "abc":
        driver.add(name)
        for _ in range(3):
            driver.report(name, seconds=0.01)
    facts.clear()
    for _ in range(3):
        driver.report("a", seconds=1.7)
    changed = [fact for fact in facts if isinstance(fact, NodeChanged)]
    assert changed == [NodeChanged(0.0, "a", "up", "suspect", "probed_late", "answered after 1.7 s", "http://a")]
    driver.report("a", seconds=0.02)
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_in_panic_all_are_used_that_do_not_refuse_and_those_down_a_little() -> None:
    driver = TestDriver(slow_start_s=30.0)
    for name in "abc":
        driver.add(name, slots=20)
    for _ in range(4):
        driver.report("a", ok=False, reason="timeout")
        driver.report("b", ok=False, reason="refused")
    assert driver.dispatcher.fleet.panics("m")
    for _ in range(30):
        driver.submit()
    held = list(driver.node_of.values())
    assert {name: held.count(name) for name in "abc"} == {"a": 2, "b": 0, "c": 20}
    assert driver.dispatcher.available("m") == 1


@pytest.mark.parametrize(
    ("reason", "refuses"),
    [
        ("refused", True),
        ("connect", True),
        ("resolve: no-such-host: Name or service not known", True),
        ("tls: x", False),
    ],
)
def test_what_says_that_nobody_takes_connections(driver: TestDriver, reason: str, refuses: bool) -> None:
    driver.report("a", ok=False, reason=reason)
    assert driver.dispatcher.fleet.refusing[0] == refuses


def test_where_all_refuse_requests_wait_until_one_is_back() -> None:
    driver = TestDriver()
    driver.add("a")
    for _ in range(4):
        driver.report("a", ok=False, reason="refused")
    ticket = driver.submit()
    assert ticket in driver.waiting
    driver.tick(13.0)
    driver.report("a")
    assert driver.node(ticket) == "a"


def test_what_hangs_on_a_node_that_is_down_is_aborted_with_each_bad_probe() -> None:
    driver = TestDriver()
    driver.add("a")
    for _ in range(4):
        driver.report("a", ok=False, reason="timeout")
    ticket = driver.submit()
    assert driver.node(ticket) == "a"
    driver.report("a", ok=False, reason="timeout")
    assert driver.ended[ticket] == "node_failed"


@pytest.mark.parametrize("stream", [True, False])
def test_a_trial_has_its_own_time_and_ends_with_it(stream: bool) -> None:
    driver = TestDriver("round_robin", first_token_floor_s=40.0)
    for name in "abc":
        driver.add(name)
    for _ in range(4):
        driver.report("a", ok=False)
    driver.tick(13.0)
    driver.report("a")
    ticket = next(ticket for ticket in iter(lambda: driver.submit(stream=stream), None) if driver.node(ticket) == "a")
    driver.tick(39.9)
    assert driver.node(ticket) == "a"
    driver.tick(0.2)
    assert driver.node(ticket) in "bc"
    assert driver.dispatcher.fleet.states[0] is NodeState.DOWN


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_node_on_trial_gets_the_next_new_request_whatever_the_policy(policy: str) -> None:
    driver = TestDriver(policy)
    for name in "abc":
        driver.add(name)
    for _ in range(4):
        driver.report("a", ok=False)
    driver.tick(13.0)
    driver.report("a")
    tried, other = driver.submit(), driver.submit()
    assert driver.node(tried) == "a"
    assert driver.node(other) in "bc"
    driver.finish(driver.lease_of(tried))
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_a_request_that_has_failed_is_no_trial() -> None:
    driver = TestDriver("round_robin")
    for name in "abc":
        driver.add(name)
    for _ in range(4):
        driver.report("a", ok=False)
    ticket = driver.submit()
    first = driver.node(ticket)
    driver.tick(13.0)
    driver.report("a")
    driver.finish(driver.lease_of(ticket), FAILED)
    assert {first, driver.node(ticket)} == {"b", "c"}


def test_work_that_is_long_anyway_has_longer_for_a_trial() -> None:
    driver = TestDriver("round_robin", first_token_floor_s=2.0)
    for name in "abc":
        driver.add(name)
    for _ in range(4):
        driver.report("a", ok=False)
    driver.tick(13.0)
    driver.report("a")
    ticket = next(ticket for ticket in iter(lambda: driver.submit(stream=False), None) if driver.node(ticket) == "a")
    driver.tick(10.0)
    assert driver.node(ticket) == "a"


def test_nobody_waits_for_a_node_that_is_being_drained() -> None:
    driver = TestDriver()
    for name in "ab":
        driver.add(name)
    driver.obey(driver.dispatcher.drain("b", 0.0))
    ticket = driver.submit()
    driver.finish(driver.lease_of(ticket), FAILED)
    assert driver.ended[ticket] == "node_failed"


def test_nodes_on_trial_do_not_count_among_those_that_stay() -> None:
    driver = TestDriver()
    for name in "abcd":
        driver.add(name)
    for name in "ab":
        for _ in range(4):
            driver.report(name, ok=False)
    driver.tick(13.0)
    for name in "ab":
        driver.report(name)
    for _ in range(5):
        driver.dispatcher.membership.ended(2, FAILED, driver.now)
    assert driver.dispatcher.fleet.states[:4] == [NodeState.JOINING, NodeState.JOINING, NodeState.UP, NodeState.UP]


def test_gpus_are_unknown_until_a_report_tells_of_them(driver: TestDriver) -> None:
    driver.add("g")
    columns = driver.dispatcher.fleet.columns
    row = driver.dispatcher.fleet.row_of["g"]
    assert columns.reported_gpu_busy[row] == -1.0
    driver.report("g", gpu_busy=0.4)
    driver.report("g", running=1)
    assert columns.reported_gpu_busy[row] == 0.4


def test_a_block_in_mib_is_so_many_tokens_of_the_nodes_model(driver: TestDriver) -> None:
    driver.add("slabs", block_mib=128, profile="Llama-3-8B", kv_tokens=65_536, kv_layout="buddy")
    row = driver.dispatcher.fleet.row_of["slabs"]
    cells = driver.dispatcher.fleet.cells
    assert (cells.block_tokens[row], cells.kv_capacity[row]) == (1024, 64)
    again = NodeSpec(
        url="http://slabs", id="slabs", models=("m",), block_mib=256, profile="Llama-3-8B", kv_tokens=65_536,
        kv_layout="buddy",
    )  # fmt: skip
    driver.obey(driver.dispatcher.declare_node(again, driver.now))
    assert (cells.block_tokens[row], cells.kv_capacity[row]) == (2048, 32)
    with pytest.raises(ValueError, match="`profile` must name its model"):
        driver.dispatcher.add_node(NodeSpec(url="http://x", block_mib=128), driver.now)
