from typing import Any

import pytest
from tests.support.tight import TightDriver

from pointsman.admin.services import Services
from pointsman.admin.values import NodeChange, PolicyChange, PolicyInUse
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Probe


def test_a_node_tells_its_state(scene: Any) -> None:
    node = scene.services.node("http://a")
    assert (node.state, node.models, node.slots, node.cap) == ("up", ["m"], 4, 4)
    assert node.outstanding == 1
    assert node.load == 0.25


def test_the_orders_of_a_change_are_obeyed(scene: Any) -> None:
    scene.services.add_node(NodeSpec(url="http://c"))
    assert [type(order) for order in scene.obeyed] == [Probe]
    assert scene.services.node("http://c").state == "joining"


def test_a_node_is_drained_and_takes_work_again(scene: Any) -> None:
    assert scene.services.change_node("b", NodeChange(drain=True)).state == "draining"
    assert scene.services.change_node("b", NodeChange(drain=False)).state == "up"


def test_weight_lowers_the_cap(scene: Any) -> None:
    assert scene.services.change_node("http://a", NodeChange(weight=0.5)).cap == 2


def test_a_node_is_drained_within_a_limit(scene: Any) -> None:
    assert scene.services.change_node("b", NodeChange(drain=True, limit_s=5.0)).state == "draining"
    with pytest.raises(ValueError, match="limit_s"):
        scene.services.change_node("b", NodeChange(limit_s=5.0))


def test_an_idle_node_is_removed_at_once_and_a_busy_one_drains(scene: Any) -> None:
    scene.services.remove_node("b")
    scene.services.remove_node("http://a")
    assert [(node.id, node.state) for node in scene.services.nodes()] == [("http://a", "draining")]


def test_an_unknown_node_is_refused_with_those_there_are(scene: Any) -> None:
    for call in (scene.services.node, scene.services.remove_node):
        with pytest.raises(LookupError, match="b, http://a"):
            call("nobody")


def test_it_is_ready_while_a_node_can_be_given_work(scene: Any) -> None:
    assert scene.services.ready()
    for node in ("http://a", "b"):
        scene.services.change_node(node, NodeChange(drain=True))
    assert not scene.services.ready()


def test_whoever_runs_it_may_have_reasons_not_to_be_ready(scene: Any) -> None:
    stopping = Services(
        scene.dispatcher,
        scene.obeyed.extend,
        scene.clock,
        scene.metrics,
        scene.decisions,
        scene.stories,
        ready=lambda: False,
    )
    assert not stopping.ready()


def test_a_node_that_cannot_be_reached_is_not_added(scene: Any) -> None:
    def refuse(spec: NodeSpec) -> None:
        raise ValueError(f"{spec.url}: not an address")

    strict = Services(
        scene.dispatcher, scene.obeyed.extend, scene.clock, scene.metrics, scene.decisions, scene.stories, admit=refuse
    )
    with pytest.raises(ValueError, match="not an address"):
        strict.add_node(NodeSpec(url="nonsense"))
    assert len(strict.nodes()) == 2


def test_a_policy_is_changed_for_its_scope(scene: Any) -> None:
    scene.services.set_policy(PolicyChange("two_choices", "model:m"))
    assert scene.services.policies() == [
        PolicyInUse("default", "round_robin", {}),
        PolicyInUse("model:m", "two_choices", {}),
    ]
    scene.services.set_policy(PolicyChange(None, "model:m"))
    assert len(scene.services.policies()) == 1


def test_the_story_of_a_request_is_found_by_its_id(scene: Any) -> None:
    (story,) = scene.services.stories_of("r1")
    assert (story.state, [type(chapter).__name__ for chapter in story.chapters]) == ("running", ["Chosen", "Sent"])


def test_why_a_request_may_be_forgotten_is_said(scene: Any) -> None:
    with pytest.raises(LookupError, match=r"nothing is remembered about request 'r\{2\}': ") as caught:
        scene.services.stories_of("r{2}")
    for why in ("its last 1000", "is replaced", "could not serve at all", "--journal FILE"):
        assert why in str(caught.value)


def test_the_metrics_page_reads_the_fleet(scene: Any) -> None:
    assert b'pointsman_node_outstanding{node="http://a"} 1.0' in scene.services.metrics_page()


def test_memory_is_told_by_node_and_by_request(scene: Any) -> None:
    assert [(each.node, each.mode, each.capacity) for each in scene.services.memory().nodes] == [
        ("http://a", "believed", None),
        ("b", "believed", None),
    ]
    scene.clock.advance_to(103.0)
    (held,) = scene.services.holdings()
    assert (held.request_id, held.node, held.since_s) == ("r1", "http://a", 3.0)


def test_scattered_memory_is_gathered_or_a_plan_shown(scene: Any) -> None:
    driver = TightDriver("a", "b", "c", cut_after=5, preemption="off", queue_timeout_s=1e6)
    for blocks in (40, 40, 40, 20, 20, 20):
        driver.ask(blocks)
    for name in ("prefill_base", "prefill_per_token", "prefill_per_pair"):
        getattr(driver.dispatcher.fleet.columns, name)[:3] = 1e-9
    long = driver.ask(80)
    services = Services(driver.dispatcher, driver.obey, scene.clock, scene.metrics, scene.decisions, scene.stories)
    (plan,) = services.defragment(dry_run=True)
    assert (plan.request, plan.blocks, len(plan.moved)) == ("r7", 40, 1)
    assert long in driver.waiting
    assert services.defragment(dry_run=False) == [plan]
    assert driver.node(long) == plan.node
    assert not driver.waiting
    assert services.defragment(dry_run=True) == []


async def test_defragmentation_is_asked_for_over_http(client: Any) -> None:
    async with client.post("/cache/defragment", params={"dry_run": "true"}) as answer:
        assert (answer.status, await answer.json()) == (200, [])
