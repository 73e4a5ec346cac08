from pointsman.brain.cache.pools.arena import Arena
from pointsman.brain.cache.pools.buddy import Buddy
from pointsman.brain.cache.pools.paged import Paged
from pointsman.brain.model.view import LATER, NEVER, NOW


def test_what_finds_no_place_is_queued_in_order() -> None:
    arena = Arena(Buddy(16))
    assert [arena.reserve(1, 9), arena.reserve(2, 5), arena.reserve(3, 1)] == [16, 8, 1]
    assert arena.held == 16
    arena.release(1)
    assert arena.held == 9


def test_nobody_overtakes_what_is_queued() -> None:
    arena = Arena(Paged(10))
    arena.reserve(1, 6)
    assert (arena.place(4), arena.place(5), arena.place(11)) == (NOW, LATER, NEVER)
    arena.reserve(2, 6)
    assert arena.place(4) == LATER
    arena.reserve(3, 4)
    assert arena.held == 6
    arena.release(2)
    assert arena.held == 10, "who left the queue lets the next one in"


def test_a_lease_releases_once_and_strangers_nothing() -> None:
    arena = Arena(Paged(10))
    arena.reserve(1, 6)
    for lease in (7, 1, 1):
        arena.release(lease)
    assert arena.held == 0
    assert arena.layout.free() == 10


def test_other_memory_holds_what_it_can_of_the_same_leases() -> None:
    arena = Arena(Paged(10))
    arena.reserve(1, 6)
    arena.reserve(2, 4)
    arena.lay(Buddy(8))
    assert arena.held == 8
    assert arena.place(1) == LATER
    arena.release(1)
    assert arena.held == 4
