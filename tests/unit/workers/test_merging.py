from typing import Any

import msgspec

from pointsman.admin.routes import ROUTES, Call, Route
from pointsman.admin.values import DecisionsQuery, Health, Node
from pointsman.brain.model.sharing import Booked
from pointsman.observe.decisions import Decision
from pointsman.observe.fleet_reading import FleetReading
from pointsman.workers.merging import merged, reading


def route(method: str, path: str) -> Route:
    return next(each for each in ROUTES if (each.method, each.path) == (method, path))


def sums(node: str) -> Booked:
    return Booked(outstanding=7, running=4, backlog_tokens=30) if node == "a" else Booked()


def node(name: str = "a", **differs: Any) -> Node:
    values = {field.name: 1 if field.type in (int, float) else None for field in msgspec.structs.fields(Node)}
    return Node(**(values | {"id": name, "url": "http://a", "models": ["m"], "state": "up"} | differs))


def decision(time: float, request: str = "r") -> Decision:
    return Decision(request, 1, "m", "p", time, "cost", "a", [])


def test_what_is_booked_is_the_sum_and_of_the_rest_the_worst() -> None:
    one = node(outstanding=3, load=0.5, response_seconds=2.0, share=0.2)
    two = node(outstanding=4, load=0.7, response_seconds=1.0, share=1.0)
    both = merged(route("GET", "/nodes/{id}"), Call("a"), [one, two], sums)
    assert (both.outstanding, both.running, both.backlog_tokens) == (7, 4, 30.0)
    assert (both.load, both.response_seconds, both.share) == (0.7, 2.0, 0.2)


def test_the_state_is_the_one_that_most_see() -> None:
    seen = [node(state="up"), node(state="down"), node(state="down")]
    assert merged(route("GET", "/nodes/{id}"), Call("a"), seen, sums).state == "down"


def test_nodes_that_only_some_know_are_listed() -> None:
    found = merged(route("GET", "/nodes"), Call(), [[node("a")], [node("a"), node("b")]], sums)
    assert [each.id for each in found] == ["a", "b"]


def test_decisions_are_merged_newest_first_and_cut() -> None:
    answers = [[decision(5.0), decision(2.0)], [decision(4.0), decision(3.0)]]
    found = merged(route("GET", "/decisions"), Call(query=DecisionsQuery(3)), answers, sums)
    assert [each.time for each in found] == [5.0, 4.0, 3.0]


def test_those_about_one_request_come_oldest_first() -> None:
    answers = [[decision(2.0), decision(5.0)], [decision(1.0)]]
    found = merged(route("GET", "/decisions/{id}"), Call("r"), answers, sums)
    assert [each.time for each in found] == [1.0, 2.0, 5.0]


def test_what_all_agree_on_is_told_once() -> None:
    assert merged(route("GET", "/healthz"), Call(), [Health("ok"), Health("ok")], sums) == Health("ok")


def test_readings_are_merged_like_nodes_and_queues_add_up() -> None:
    one = FleetReading(
        nodes=["a", "b"], states=["up", "up"], columns={"outstanding": [1.0, 1.0], "load": [0.1, 0.2]},
        queues={"m": 2, "n": 0}, panics={"m": False}, index_entries=5,
    )  # fmt: skip
    two = FleetReading(
        nodes=["b"], states=["down"], columns={"outstanding": [9.0], "load": [0.9]},
        queues={"m": 3}, panics={"m": True}, index_entries=6,
    )  # fmt: skip
    both = reading([one, two], sums)
    assert (list(both.nodes), list(both.states)) == (["a", "b"], ["up", "up"])
    assert (both.columns["outstanding"], both.columns["load"]) == ([7.0, 0.0], [0.1, 0.9])
    assert (both.queues, both.panics, both.index_entries) == ({"m": 5, "n": 0}, {"m": True}, 6)


def test_nothing_is_read_where_nobody_answers() -> None:
    nothing = reading([], sums)
    assert [len(each) for each in (nothing.nodes, nothing.columns, nothing.queues)] == [0, 0, 0]
    assert nothing.index_entries == 0
