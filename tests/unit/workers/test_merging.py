from typing import Any

import msgspec

from pointsman.admin.routes import ROUTES, Call, Route
from pointsman.admin.values import DecisionsQuery, Health, Node
from pointsman.brain.model.sharing import Booked
from pointsman.observe.chapters import Story
from pointsman.observe.decision import Decision
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.memory import Holding, Memory, NodeMemory, fleet
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


def test_stories_of_one_id_come_oldest_first() -> None:
    answers = [[Story("r", 1, "m", "", 1.0, arrived, "ended", [])] for arrived in (2.0, 1.0)]
    found = merged(route("GET", "/decisions/{id}"), Call("r"), answers, sums)
    assert [each.arrived for each in found] == [1.0, 2.0]


def test_what_all_agree_on_is_told_once() -> None:
    assert merged(route("GET", "/healthz"), Call(), [Health("ok"), Health("ok")], sums) == Health("ok")


def test_readings_are_merged_like_nodes_and_queues_add_up() -> None:
    one = FleetReading(
        nodes=["a", "b"], states=["up", "up"], columns={"outstanding": [1.0, 1.0], "load": [0.1, 0.2]},
        queues={"m": 2, "n": 0}, oldest={"m": 2.0, "n": 0.0}, panics={"m": False}, index_entries=5,
    )  # fmt: skip
    two = FleetReading(
        nodes=["b"], states=["down"], columns={"outstanding": [9.0], "load": [0.9]},
        queues={"m": 3}, oldest={"m": 1.0}, panics={"m": True}, index_entries=6,
    )  # fmt: skip
    both = reading([one, two], sums)
    assert (list(both.nodes), list(both.states)) == (["a", "b"], ["up", "up"])
    assert (both.columns["outstanding"], both.columns["load"]) == ([7.0, 0.0], [0.1, 0.9])
    assert both.oldest == {"m": 2.0, "n": 0.0}
    assert (both.queues, both.panics, both.index_entries) == ({"m": 5, "n": 0}, {"m": True}, 6)


def test_nothing_is_read_where_nobody_answers() -> None:
    nothing = reading([], sums)
    assert [len(each) for each in (nothing.nodes, nothing.columns, nothing.queues)] == [0, 0, 0]
    assert nothing.index_entries == 0


def memory_of(node: str, **differs: int) -> NodeMemory:
    usual = {
        "capacity": 100,
        "reserved": 10,
        "preallocated": 0,
        "pinned": 0,
        "cached": 20,
        "free": 70,
        "queued": 0,
        "largest": 90,
    }
    usual["unused_tokens"] = 5
    return NodeMemory(
        node=node, mode="believed", layout="paged", block_tokens=16, fragmentation=0.0, **(usual | differs)
    )


def test_memory_is_as_the_worker_with_most_booked_sees_it_and_leases_add_up() -> None:
    ones = [memory_of("a"), memory_of("b", reserved=90, cached=0, free=10, largest=10, queued=4)]
    others = [memory_of("a", reserved=30, cached=20, free=50, largest=70)]
    answers = [Memory(fleet(ones, 1), ones), Memory(fleet(others, 2), others)]
    both = merged(route("GET", "/cache"), Call(), answers, sums)
    assert [(each.node, each.reserved, each.unused_tokens) for each in both.nodes] == [("a", 30, 10), ("b", 90, 5)]
    assert (both.fleet.reserved, both.fleet.free, both.fleet.blocked) == (120 * 16, 60 * 16, 3)


def test_requests_of_all_workers_are_listed_oldest_first() -> None:
    def held(since: float) -> Holding:
        return Holding(
            request_id="r", model="m", tenant="", priority=1.0, node="a", position=None, blocks=1, prompt_tokens=1,
            reserved_tokens=2, cached_tokens=0, output_tokens=0, since_s=since,
        )  # fmt: skip

    found = merged(route("GET", "/cache/requests"), Call(), [[held(3.0), held(1.0)], [held(2.0)]], sums)
    assert [each.since_s for each in found] == [3.0, 2.0, 1.0]
