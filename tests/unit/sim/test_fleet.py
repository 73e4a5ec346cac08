"""Nodes from kinds, in any number."""

import pytest

from pointsman.engine.profile import EngineProfile
from pointsman.sim.fleet import MODEL, NodeKind, nodes_of, obedient, reported_blocks, reporting, resized


def test_several_of_a_kind_are_numbered() -> None:
    nodes = nodes_of([NodeKind(name="a", count=2), NodeKind(name="b")])
    assert [node.name for node in nodes] == ["a-1", "a-2", "b"]
    assert all(node.spec.models == (MODEL,) for node in nodes)


def test_a_slower_node_has_a_lower_rate() -> None:
    fast, slow = nodes_of([NodeKind(name="fast"), NodeKind(name="slow", speed=0.25)])
    assert slow.prefill_rate == pytest.approx(fast.prefill_rate / 4)


def test_only_what_is_declared_is_known() -> None:
    kind = NodeKind(name="a", gpu="H100", profile="Llama-3-70B", tp=4, max_num_seqs=7)
    (silent,), (told,) = nodes_of([kind]), nodes_of([kind], declare=True)
    assert (silent.spec.slots, silent.spec.hardware, silent.spec.profile) == (None, "", "")
    assert (told.spec.slots, told.spec.hardware, told.spec.profile, told.spec.tensor_parallel) == (
        7,
        "H100",
        "Llama-3-70B",
        4,
    )


def test_the_capacity_of_a_plain_server_is_what_can_be_declared() -> None:
    kind = NodeKind(name="p", kind="plain", plain_capacity=10)
    (silent,), (told,) = nodes_of([kind]), nodes_of([kind], declare=True)
    assert (silent.spec.slots, told.spec.slots) == (None, 10)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([NodeKind(name="a"), NodeKind(name="a")], "two nodes are named 'a'"),
        ([NodeKind(name="a", gpu="H1")], "unknown gpu 'H1'"),
        ([NodeKind(name="a", decode_base_ms=1.0)], "needs both"),
    ],
)
def test_what_makes_no_fleet_is_refused(kinds: list[NodeKind], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        nodes_of(kinds)


def test_a_fleet_keeps_its_proportions_at_another_size() -> None:
    kinds = (NodeKind(name="a", count=3), NodeKind(name="b", count=7))

    def counts(total: int) -> list[int]:
        return [kind.count for kind in resized(kinds, total)]

    assert counts(10) == [3, 7]
    assert counts(20) == [6, 14]
    assert counts(5) == [2, 3], "of equal remainders the first kind's counts"
    with pytest.raises(ValueError, match="1 nodes are too few to have one of each kind: a, b"):
        counts(1)


def test_nodes_that_report_tell_events_and_say_so() -> None:
    nodes = reporting(nodes_of([NodeKind(name="a"), NodeKind(name="b")]))
    assert [(node.spec.residency, node.profile.kv_events) for node in nodes] == [("reported", True)] * 2  # type: ignore[union-attr]
    assert reported_blocks(nodes) == 16
    assert reported_blocks(nodes_of([NodeKind(name="a")])) == 0


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ([NodeKind(name="a", kind="plain")], "plain servers have no cache to report"),
        ([NodeKind(name="a"), NodeKind(name="b", block_size=32)], "need blocks of one size"),
    ],
)
def test_who_cannot_report_is_told(kinds: list[NodeKind], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        reporting(nodes_of(kinds))


def test_nodes_that_obey_are_commanded() -> None:
    (node,) = obedient(nodes_of([NodeKind(name="a")]))
    assert isinstance(node.profile, EngineProfile)
    assert (node.spec.residency, node.profile.limits.obeys) == ("commanded", True)
    with pytest.raises(ValueError, match="no cache to command"):
        obedient(nodes_of([NodeKind(name="a", kind="plain")]))
