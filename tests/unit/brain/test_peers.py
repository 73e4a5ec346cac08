"""What gateways tell each other, seen through their dispatchers."""

import pytest
from tests.support.driver import TestDriver, chain

from pointsman.brain.life.feedback import BURST
from pointsman.brain.model.errors import NotFound, TooManyRequests
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.sharing import Booked, Known, PeerReport, Share
from pointsman.brain.peers import LINKS_TOLD, links_of


def gateway(slots: int = 4, gateways: int = 2, policy: str = "least_requests") -> TestDriver:
    driver = TestDriver(policy)
    driver.add("a", slots=slots)
    hear(driver, gateways=gateways)
    return driver


def hear(driver: TestDriver, *, gateways: int = 2, **report: object) -> None:
    """A round that counts everything told so far."""
    driver.hear(PeerReport(gateways=gateways, counted=len(driver.told), **report))  # type: ignore[arg-type]


def share(driver: TestDriver) -> Share | None:
    """What is told now, if anything."""
    before = len(driver.told)
    driver.share()
    return driver.told[-1] if len(driver.told) > before else None


def exchange(driver: TestDriver, **report: object) -> None:
    """Tell, and hear a round that counts it."""
    driver.share()
    ours = int(driver.dispatcher.peers.own()[0, 0])
    hear(driver, nodes={"a": Known(Booked(), ours)}, **report)


def column(driver: TestDriver, name: str) -> float:
    return float(getattr(driver.dispatcher.fleet.table, name)[0])


def test_own_bookings_are_told_when_they_change() -> None:
    driver = gateway()
    assert share(driver) is None
    ticket = driver.submit(tokens=100, max_tokens=10)
    told = share(driver)
    assert told is not None
    booked = told.booked["a"]
    assert (booked.outstanding, booked.running, booked.backlog_tokens) == (1, 0, 100)
    assert booked.kv_reserved > 0
    assert share(driver) is None
    hear(driver)
    driver.first_token(driver.lease_of(ticket))
    told = share(driver)
    assert told is not None
    assert (told.booked["a"].running, told.booked["a"].backlog_tokens) == (1, 0)
    hear(driver)
    driver.finish(driver.lease_of(ticket))
    assert share(driver) == Share(number=3, booked={"a": Booked()})


def test_the_others_bookings_count_and_leave_nothing_behind() -> None:
    driver = gateway()
    hear(driver, nodes={"a": Known(Booked(3, 2, 50, 700, 40))})
    assert [column(driver, name) for name in ("outstanding", "running", "backlog_tokens")] == [3, 2, 50]
    assert share(driver) is None  # none of it is ours to tell
    ticket = driver.submit()
    told = share(driver)
    assert told is not None
    assert told.booked["a"].outstanding == 1
    hear(driver, nodes={"a": Known(Booked(), 1)})
    assert column(driver, "outstanding") == 1
    driver.finish(driver.lease_of(ticket))
    driver.rest()


def test_no_more_is_placed_than_the_share_of_the_room_until_it_hears_again() -> None:
    driver = gateway(slots=4)
    tickets = [driver.submit() for _ in range(4)]
    assert len(driver.running) == 2
    exchange(driver)
    assert len(driver.running) == 3
    exchange(driver)
    assert len(driver.running) == 4
    assert set(driver.running.values()) == set(tickets)


def test_room_that_another_frees_starts_who_waits() -> None:
    driver = gateway(slots=4)
    hear(driver, nodes={"a": Known(Booked(4))})
    driver.submit()
    assert driver.waiting
    hear(driver, nodes={"a": Known(Booked(3))})
    assert not driver.waiting


def test_a_node_that_others_fill_gets_its_trial_here_too() -> None:
    driver = gateway(slots=8)
    for _ in range(2):
        driver.report("a", ok=False)
        driver.report("a", ok=False)
    assert driver.dispatcher.fleet.states[0] is NodeState.DOWN
    driver.tick(60.0)
    driver.report("a")
    hear(driver, nodes={"a": Known(Booked(5))})
    first, _ = driver.submit(), driver.submit()
    assert set(driver.running.values()) == {first}
    driver.finish(driver.lease_of(first))
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_that_requests_wait_is_told_and_makes_the_others_leave_room() -> None:
    driver = gateway(slots=4)
    for _ in range(4):
        driver.submit()
        exchange(driver)
    driver.submit()
    share_now = share(driver)
    assert share_now is not None
    assert share_now.waiting == ("m",)
    hear(driver, waiting={"m": 1})
    for _ in range(2):
        driver.finish(min(driver.running))
        assert driver.waiting  # the freed room is left to the other
    driver.finish(min(driver.running))
    assert not driver.waiting


def test_who_waits_for_nodes_that_are_out_asks_nobody_for_room() -> None:
    driver = TestDriver()
    driver.add("a", up=False)
    hear(driver)
    driver.obey(driver.dispatcher.drain("a", driver.now))
    driver.submit()
    assert share(driver) is None


def test_a_prompt_sent_by_another_is_believed_there() -> None:
    here, there = gateway(policy="fastest_completion"), gateway(policy="fastest_completion")
    for driver in (here, there):
        driver.add("b", slots=4)
    prompt = chain(*range(20))
    node = here.node(here.submit(tokens=320, chain=prompt))
    told = share(here)
    assert told is not None
    assert [list(links_of(sent)) for sent in told.sent] == [list(prompt.links)]
    hear(there, sent=told.sent)
    assert there.dispatcher.placement.index.depths(prompt.links, 2)[there.dispatcher.fleet.row_of[node]] == 20


def test_of_too_many_prompts_the_newest_are_told() -> None:
    driver = gateway(slots=10_000)
    count = LINKS_TOLD // 1000 + 5
    for number in range(count):
        driver.submit(tokens=16_000, chain=chain(*range(1000 * number, 1000 * number + 1000)))
    told = share(driver)
    assert told is not None
    assert len(told.sent) == LINKS_TOLD // 1000
    assert list(links_of(told.sent[-1])) == list(chain(*range(1000 * count - 1000, 1000 * count)).links)


def test_alone_no_prompt_is_kept_to_be_told() -> None:
    driver = gateway(gateways=1)
    driver.submit(chain=chain(1, 2, 3))
    told = share(driver)
    assert told is not None
    assert not told.sent


def test_what_is_heard_of_unknown_nodes_is_passed_over() -> None:
    driver = gateway()
    hear(driver, nodes={"b": Known(Booked(3))})
    assert not driver.dispatcher.fleet.columns.outstanding.any()


def test_a_node_is_gone_when_nobody_has_anything_there() -> None:
    driver = gateway()
    ticket = driver.submit()
    share(driver)
    hear(driver, nodes={"a": Known(Booked(1), 1)})
    driver.obey(driver.dispatcher.remove_node("a", driver.now))
    driver.finish(driver.lease_of(ticket))
    assert "a" in driver.dispatcher.fleet.row_of
    hear(driver, nodes={"a": Known(Booked(), 1)})
    assert "a" not in driver.dispatcher.fleet.row_of
    told = share(driver)
    assert told is not None
    assert told.booked == {"a": Booked()}
    assert share(driver) is None


def test_nothing_is_told_until_a_round_counts_the_last_share() -> None:
    driver = gateway()
    driver.submit()
    assert share(driver)
    driver.submit()
    driver.hear(PeerReport(gateways=2, counted=0))
    assert share(driver) is None
    driver.hear(PeerReport(gateways=2, counted=1))
    told = share(driver)
    assert told is not None
    assert told.booked["a"].outstanding == 2


def test_a_round_that_misses_what_was_told_gives_no_room_that_was_given_away() -> None:
    driver = gateway(slots=8)
    for _ in range(8):
        driver.submit()
        exchange(driver)
    for lease in list(driver.running):
        driver.finish(lease)
    assert share(driver)
    driver.hear(PeerReport(gateways=2, counted=len(driver.told) - 1, nodes={"a": Known(Booked(), 8)}))
    for _ in range(8):
        driver.submit()
    assert len(driver.running) == 4


def test_a_node_replaced_under_its_id_keeps_its_own_and_loses_what_others_had() -> None:
    driver = gateway()
    driver.submit()
    share(driver)
    hear(driver, nodes={"a": Known(Booked(2), 1)})
    driver.others.clear()
    driver.obey(driver.dispatcher.declare_node(NodeSpec(url="http://elsewhere", id="a", models=("m",)), driver.now))
    assert driver.dispatcher.fleet.table.outstanding.tolist() == [1, 0]
    told = share(driver)
    assert told is not None
    assert [booked.outstanding for booked in told.booked.values()] == [0, 1]
    assert next(iter(told.booked)) == "a"


def test_feedback_on_what_another_served_is_told_and_counts_there_once() -> None:
    here, there = gateway(), gateway()
    for _ in range(3):
        there.finish(there.lease_of(there.submit()))
    words = [ClientReport(request=f"r{number}", tenant="", good=False) for number in (1, 2, 2, 3)]
    for word in words:
        here.obey(here.dispatcher.feedback(word, 0.0))
    told = share(here)
    assert told == Share(number=1, feedback=words)
    hear(there, feedback=told.feedback)
    assert there.dispatcher.membership.health.records[0].fails_in_a_row == 3
    assert there.dispatcher.membership.health.records[0].recent.count(False) == 3
    hear(here)
    assert share(here) is None


def test_feedback_passed_on_is_limited_too_and_alone_what_is_unknown_is_refused() -> None:
    here = gateway()
    word = ClientReport(request="r", tenant="", good=False)
    for _ in range(BURST):
        here.obey(here.dispatcher.feedback(word, 0.0))
    with pytest.raises(TooManyRequests):
        here.dispatcher.feedback(word, 0.0)
    hear(here, gateways=1)
    with pytest.raises(NotFound):
        here.dispatcher.feedback(word, 100.0)
