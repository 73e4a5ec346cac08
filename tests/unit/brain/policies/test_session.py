from typing import Any

import numpy as np
import pytest
from tests.support.driver import TestDriver

from pointsman.brain.model.request import Request
from pointsman.brain.policies.session import rendezvous


def ask(session: str) -> Request:
    return Request(id="r", model="m", session=session)


def homes(choose: Any, nodes: list[int], **columns: Any) -> list[int]:
    """The fleet row of each of 200 sessions."""
    choices = [choose("session", request=ask(f"s{i}"), nodes=nodes, **columns) for i in range(200)]
    return [nodes[choice.index] for choice in choices]


def test_session_stays_whatever_the_draw_and_sessions_spread(choose: Any) -> None:
    nodes = [0, 1, 2, 3]
    assert homes(choose, nodes) == homes(choose, nodes, draw=7)
    assert np.bincount(homes(choose, nodes)).min() > 30


def test_a_leaving_node_moves_its_own_sessions_only(choose: Any) -> None:
    before = homes(choose, [0, 1, 2, 3])
    after = homes(choose, [0, 1, 3])
    assert all(now == old for now, old in zip(after, before, strict=True) if old != 2)
    assert {now for now, old in zip(after, before, strict=True) if old == 2} == {0, 1, 3}


def test_home_above_its_bound_spills(choose: Any) -> None:
    free = choose("session", request=ask("alice"), outstanding=[2.0] * 4)
    assert free.reason == "home"
    queue = [2.0] * 4
    queue[free.index] = 4.0  # the bound is ceil(1.25 x 11 / 4) = 4
    spilled = choose("session", request=ask("alice"), outstanding=queue)
    assert spilled.index != free.index
    assert spilled.reason == "spill"
    assert choose("session", {"epsilon": 1.0}, request=ask("alice"), outstanding=queue).index == free.index


def test_home_outside_the_wrapped_limits_spills(choose: Any) -> None:
    home = choose("session", request=ask("alice"), reported_load=[0.0] * 4).index
    load = [0.0] * 4
    load[home] = 0.95
    assert choose("session", request=ask("alice"), reported_load=load).index != home
    assert choose("session", {"within": "least_requests"}, request=ask("alice"), reported_load=load).index == home


def test_without_session_the_wrapped_policy_decides(choose: Any) -> None:
    choice = choose("session", response_seconds=[0.3, 0.1, 0.2])
    assert (choice.index, choice.reason) == (1, "fastest")


def test_nobody_may_take_it_then_the_wrapped_policy_decides(choose: Any) -> None:
    choice = choose("session", request=ask("alice"), reported_load=[0.99, 0.95])
    assert (choice.index, choice.reason) == (1, "overloaded")


def test_rendezvous_is_the_same_in_every_process() -> None:
    assert rendezvous("alice", np.arange(2, dtype=np.uint64)).tolist() == pytest.approx(
        [0.256414013, 0.539862826], abs=1e-9
    )


def test_gateways_that_know_the_nodes_in_another_order_agree_on_homes() -> None:
    found = []
    for names in ("abcd", "dbca"):
        driver = TestDriver("session")
        for name in names:
            driver.add(name, slots=100)
        found.append([driver.node(driver.submit(session=f"s{number}")) for number in range(4)])
        driver.rest()
    assert found[0] == found[1]
