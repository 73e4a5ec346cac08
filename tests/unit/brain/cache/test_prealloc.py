"""Memory kept ready for classes of requests."""

import numpy as np
import pytest

from pointsman.brain.cache.pool import Pool
from pointsman.brain.cache.prealloc import MOST_FOUND, Preallocation
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.cache_settings import CacheSettings, MemoryClass
from pointsman.brain.model.node import NodeSpec, NodeState

BLOCKS = 100


class Scene:
    """Nodes of 100 blocks of 16 tokens."""

    def __init__(self, *names: str, **settings: object) -> None:
        self.fleet = Fleet(8)
        self.pool = Pool(self.fleet)
        self.prealloc = Preallocation(CacheSettings(**settings), self.fleet, self.pool)  # type: ignore[arg-type]
        self.leases: dict[int, tuple[int, int]] = {}
        for name in names:
            self.add(NodeSpec(url=f"http://{name}", models=("m",), kv_tokens=16 * BLOCKS))

    def add(self, spec: NodeSpec) -> None:
        row = self.fleet.add(spec)
        self.fleet.states[row], self.fleet.admitted[row] = NodeState.UP, True
        self.fleet.touch()
        self.pool.lay(row, spec)

    def begin(self, lease: int, row: int, tokens: int, now: float = 0.0) -> None:
        self.prealloc.arrived("m", tokens, now)
        self.prealloc.begun(lease, row, "m", tokens, now)
        self.leases[lease] = row, self.pool.reserve(row, tokens, lease)

    def end(self, lease: int, now: float) -> None:
        row, blocks = self.leases.pop(lease)
        self.pool.release(row, blocks, lease)
        self.prealloc.ended(lease, now)

    def kept(self) -> list[int]:
        return [self.pool.aside(row) for row in range(len(self.fleet))]

    def conserved(self) -> None:
        for row in range(len(self.fleet)):
            account = self.pool.account(row)
            assert account.reserved + account.preallocated + account.cached + account.free == account.capacity


def declared(up_to_tokens: int = 160, requests: int = 2, nodes: int = 1) -> dict[str, object]:
    return {"prealloc": (MemoryClass(model="m", up_to_tokens=up_to_tokens, requests=requests, nodes=nodes),)}


def test_declared_memory_is_kept_from_the_start_on_the_emptiest_nodes() -> None:
    scene = Scene("a", "b", "c", **declared(nodes=2))
    scene.pool.reserve(1, 160, 99)
    scene.prealloc.renew(0.0)
    assert scene.kept() == [20, 0, 20]
    assert scene.fleet.columns.kv_reserved[:3].tolist() == [20, 10, 20]
    scene.conserved()


def test_only_the_class_is_offered_what_is_kept() -> None:
    scene = Scene("a", "b", **declared())
    scene.prealloc.renew(0.0)
    rows = np.array([0, 1])
    offered = scene.prealloc.offered("m", 160.0, rows)
    assert offered is not None
    assert offered.tolist() == [20.0, 0.0]
    assert scene.prealloc.offered("m", 161.0, rows) is None
    assert scene.prealloc.offered("other", 10.0, rows) is None
    assert [scene.prealloc.ready("m", tokens) for tokens in (160.0, 161.0)] == [True, False]
    scene.begin(1, 0, 160)
    scene.begin(2, 0, 80)
    assert [scene.prealloc.ready("m", tokens) for tokens in (80.0, 81.0)] == [True, False]


def test_a_request_takes_its_blocks_out_of_those_kept_and_leaves_them_ready() -> None:
    scene = Scene("a", **declared())
    scene.prealloc.renew(0.0)
    scene.begin(1, 0, 100)
    assert (scene.kept(), scene.fleet.columns.kv_reserved[0]) == ([13], 20)
    scene.conserved()
    scene.end(1, 5.0)
    assert (scene.kept(), scene.fleet.columns.kv_reserved[0]) == ([20], 20)
    scene.prealloc.ended(1, 6.0)
    assert scene.kept() == [20]


def test_others_take_nothing_of_it() -> None:
    scene = Scene("a", **declared())
    scene.prealloc.renew(0.0)
    scene.begin(1, 0, 500)
    assert (scene.kept(), scene.fleet.columns.kv_reserved[0]) == ([20], 52)


def test_a_full_node_keeps_only_what_it_has() -> None:
    scene = Scene("a", **declared())
    scene.begin(1, 0, 16 * 95)
    scene.prealloc.renew(0.0)
    assert scene.kept() == [5]
    scene.end(1, 1.0)
    scene.prealloc.renew(1.0)
    assert scene.kept() == [20]


def test_an_unused_class_gives_it_back_and_so_does_a_node_that_is_yielded() -> None:
    scene = Scene("a", unused_s=300.0, **declared())
    scene.prealloc.renew(0.0)
    scene.prealloc.renew(1.0, {0})
    assert (scene.kept(), scene.fleet.columns.kv_reserved[0]) == ([0], 0)
    scene.prealloc.renew(2.0)
    assert scene.kept() == [20]
    scene.prealloc.renew(301.0)
    assert scene.kept() == [0]


def demand_of(scene: Scene, tokens: int, *, every_s: float, stay_s: float = 8.0, until: float = 120.0) -> None:
    for number in range(int(until / every_s)):
        scene.begin(number, 0, tokens, number * every_s)
        scene.end(number, number * every_s + stay_s)


def test_classes_are_found_by_demand_up_to_so_many() -> None:
    scene = Scene("a", "b", demand_classes=1, demand_nodes=2)
    demand_of(scene, 200, every_s=4.0)
    demand_of(scene, 300, every_s=8.0)
    scene.prealloc.renew(120.0)
    assert scene.kept() == [32, 32], "two requests of up to 256 tokens on each"
    scene.prealloc.configure(CacheSettings(demand_classes=2, demand_nodes=2))
    scene.prealloc.renew(120.0)
    assert scene.kept() == [64, 64], "and one of up to 512"


def test_demand_that_fades_gives_it_back() -> None:
    scene = Scene("a", demand_classes=1)
    demand_of(scene, 200, every_s=4.0)
    scene.prealloc.renew(120.0)
    assert scene.kept()[0]
    scene.prealloc.renew(900.0)
    assert scene.kept() == [0]


def test_what_is_counted_of_demand_is_bounded() -> None:
    scene = Scene("a", demand_classes=1)
    for number in range(MOST_FOUND + 10):
        scene.prealloc.arrived(f"m{number}", 100.0, 0.0)
    assert len(scene.prealloc._found) == MOST_FOUND


def test_a_slab_is_not_kept() -> None:
    scene = Scene(**declared())
    scene.add(NodeSpec(url="http://a", models=("m",), kv_tokens=16 * BLOCKS, kv_layout="buddy"))
    scene.add(NodeSpec(url="http://b", models=("m",)))
    scene.prealloc.renew(0.0)
    assert scene.kept() == [0, 0]


@pytest.mark.parametrize("leaves", [True, False])
def test_a_row_whose_blocks_are_others_begins_anew(leaves: bool) -> None:
    scene = Scene("a", **declared())
    scene.prealloc.renew(0.0)
    scene.begin(1, 0, 100)
    scene.prealloc.forget(0)
    assert scene.kept() == [0]
    if not leaves:
        scene.fleet.cells.block_tokens[0] = 32.0
        scene.prealloc.renew(1.0)
        assert scene.kept() == [10]
    scene.end(1, 2.0)
    assert scene.kept() == [0 if leaves else 10]


def test_other_settings_begin_anew() -> None:
    scene = Scene("a", **declared())
    scene.prealloc.renew(0.0)
    scene.begin(1, 0, 100)
    scene.prealloc.configure(CacheSettings())
    assert (scene.prealloc.on, scene.kept()) == (False, [0])
    scene.end(1, 1.0)
    assert scene.fleet.columns.kv_reserved[0] == 0
