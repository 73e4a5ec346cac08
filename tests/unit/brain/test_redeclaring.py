"""What a new declaration changes of a node that serves on."""

import msgspec
import numpy as np
import pytest
from tests.support.driver import TestDriver

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.redeclaring import same_endpoint

SPEC = NodeSpec(url="http://a", id="a", models=("m",), slots=4, kv_tokens=3200, block_tokens=32)


@pytest.fixture
def driver() -> TestDriver:
    driver = TestDriver()
    driver.obey(driver.dispatcher.add_node(SPEC, 0.0))
    driver.report("a")
    return driver


def change(driver: TestDriver, **more: object) -> None:
    driver.obey(driver.dispatcher.declare_node(msgspec.structs.replace(SPEC, **more), driver.now))


@pytest.mark.parametrize(
    ("more", "same"),
    [
        ({"slots": 9, "models": ()}, True),
        ({"url": "http://b"}, False),
        ({"rank": 1}, False),
        ({"engine": "plain"}, False),
    ],
)
def test_an_endpoint_is_an_engine_at_a_place(more: dict[str, object], same: bool) -> None:
    assert same_endpoint(SPEC, msgspec.structs.replace(SPEC, **more)) is same


def test_limits_and_models_follow(driver: TestDriver) -> None:
    change(driver, slots=7, kv_tokens=6400, block_tokens=16, models=("n",))
    columns = driver.dispatcher.fleet.columns
    assert (columns.slots[0], columns.kv_capacity[0], columns.block_tokens[0]) == (7, 400, 16)
    assert driver.dispatcher.models() == ["n"]


def test_what_is_declared_no_more_is_believed_until_it_is_reported(driver: TestDriver) -> None:
    change(driver, slots=None, kv_tokens=None, models=())
    columns = driver.dispatcher.fleet.columns
    assert (columns.slots[0], columns.kv_capacity[0]) == (4, 100)
    assert driver.dispatcher.models() == ["m"]
    driver.report("a", models=("x",), kv_blocks=50)
    assert columns.kv_capacity[0] == 50
    assert driver.dispatcher.models() == ["x"]


def test_another_machine_is_judged_afresh_and_the_same_is_not(driver: TestDriver) -> None:
    for _ in range(20):
        ticket = driver.submit()
        driver.now += 3.0
        driver.first_token(driver.lease_of(ticket))
        driver.finish(driver.lease_of(ticket))
    columns = driver.dispatcher.fleet.columns
    learned = columns.gather(np.array([0]))
    change(driver, weight=0.5)
    assert columns.prefill_per_token[0] == learned.prefill_per_token[0]
    change(driver, hardware="H100", profile="Llama-3-8B")
    assert columns.prefill_per_token[0] < learned.prefill_per_token[0] / 10
    assert driver.dispatcher.at_rest()


def test_memory_laid_out_otherwise_holds_the_same_leases(driver: TestDriver) -> None:
    change(driver, kv_layout="buddy")
    pool = driver.dispatcher.placement.pool
    ticket = driver.submit(tokens=32 * 5 - 1, max_tokens=1)
    assert pool.account(0).reserved == 8
    change(driver, kv_layout="buddy", kv_tokens=6400)
    assert (pool.account(0).capacity, pool.account(0).reserved) == (200, 8)
    change(driver, kv_layout="paged")
    assert not pool.arenas
    driver.finish(driver.lease_of(ticket))
    driver.rest()
