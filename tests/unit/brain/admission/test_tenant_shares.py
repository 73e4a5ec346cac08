"""Caps on tenants' shares of KV memory: by themselves, and in a dispatcher."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.driver import DONE, TestDriver

from pointsman.brain.admission.tenant_shares import TenantShares
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.tenant import Tenant

ROWS = np.arange(3)


def shares(*tenants: Tenant) -> TenantShares:
    """Over two nodes of 1,600 tokens and one that tells nothing."""
    fleet = Fleet()
    for name in "ab":
        fleet.add(NodeSpec(url=f"http://{name}", kv_tokens=1600, block_tokens=16))
    fleet.add(NodeSpec(url="http://c"))
    return TenantShares(tenants, fleet)


def test_a_share_of_all_nodes_counts_what_is_held_anywhere() -> None:
    held = shares(Tenant(name="acme", kv_share=0.5))  # 1,600 of 3,200 tokens
    held.begun(1, 0, "acme", 50)
    held.begun(2, 2, "acme", 40)
    assert held.among(ROWS, "acme", 160.0).tolist() == [0, 1, 2]
    assert held.among(ROWS, "acme", 161.0).tolist() == []
    held.ended(2)
    assert held.among(ROWS, "acme", 161.0).tolist() == [0, 1, 2]


def test_a_share_of_a_node_leaves_the_others_open_and_what_is_unknown_caps_nobody() -> None:
    held = shares(Tenant(name="acme", node_share=0.25))
    held.begun(1, 0, "acme", 20)
    held.begun(2, 2, "acme", 99)
    assert held.among(ROWS, "acme", 81.0).tolist() == [1, 2]


def test_who_holds_nothing_may_place_one_however_large() -> None:
    held = shares(Tenant(name="acme", kv_share=0.1, node_share=0.1))
    assert held.among(ROWS, "acme", 1e6).tolist() == [0, 1, 2]


def test_rules_for_anyone_hold_for_each_alone_and_others_are_not_counted() -> None:
    held = shares(Tenant(name="*", kv_share=0.1), Tenant(name="free"))
    held.begun(1, 0, "x", 20)
    held.begun(2, 0, "free", 20)
    assert [len(held.among(ROWS, who, 100.0)) for who in ("x", "y", "free")] == [0, 3, 3]
    assert (held.held("free"), held.caps("free"), held.caps("y")) == (0, False, True)


def test_without_caps_it_is_off() -> None:
    held = shares(Tenant(name="acme", concurrent=3))
    assert (held.on, held.caps("acme")) == (False, False)


def test_what_was_counted_is_given_back_after_the_caps_are_gone() -> None:
    held = shares(Tenant(name="acme", kv_share=0.5))
    held.begun(1, 0, "acme", 20)
    held.configure(())
    held.ended(1)
    held.ended(1)
    assert held.at_rest()


def fleet_of(*tenants: Tenant, policy: str = "least_requests") -> TestDriver:
    driver = TestDriver(policy, tenants=tenants)
    for name in ("a", "b"):
        driver.add(name, slots=64, kv_tokens=1600)
    return driver


def test_a_tenant_at_its_cap_waits_and_nobody_waits_behind_it() -> None:
    driver = fleet_of(Tenant(name="acme", kv_share=0.1))
    first, second = (driver.submit(tenant="acme", max_tokens=100) for _ in range(2))
    assert second in driver.waiting
    assert driver.submit(tenant="beta", max_tokens=100) not in driver.waiting
    driver.finish(driver.lease_of(first), DONE)
    assert second not in driver.waiting


def test_the_queue_stays_bounded_with_many_capped_tenants() -> None:
    driver = TestDriver(tenants=(Tenant(name="*", kv_share=0.1),), queue_limit=2)
    tickets = [driver.submit(tenant=f"t{number}") for number in range(4)]
    assert [driver.ended.get(ticket) for ticket in tickets] == [None, None, "queue_full", "queue_full"]


@pytest.mark.parametrize("policy", ["least_requests", "greedy", "fastest_completion"])
@given(steps=st.lists(st.tuples(st.sampled_from(["acme", "beta", "other"]), st.integers(1, 600), st.booleans())))
def test_no_tenant_is_ever_beyond_its_share_but_by_one_request_and_nothing_is_left(
    policy: str, steps: list[tuple[str, int, bool]]
) -> None:
    driver = fleet_of(Tenant(name="acme", kv_share=0.3), Tenant(name="beta", node_share=0.4), policy=policy)
    held = driver.dispatcher.placement.shares
    for tenant, tokens, finish in steps:
        driver.now += 0.01
        driver.submit(tokens=tokens, max_tokens=50, tenant=tenant)
        if finish and driver.running:
            driver.finish(next(iter(driver.running)), DONE)
        leases = [lease for lease in driver.dispatcher.lives.leases.values() if lease.ticket.request.tenant == "acme"]
        assert len(leases) <= 1 or held.held("acme") <= 0.3 * 3200 + 16 * len(leases)  # each is rounded up to a block
    while driver.running:
        driver.finish(next(iter(driver.running)), DONE)
    assert held.at_rest()
    assert not driver.waiting
