import pytest

from pointsman.brain.cache.pools.size_class import SizeClass
from pointsman.brain.model.view import LATER, NEVER, NOW


def test_long_requests_leave_the_short_ones_their_own() -> None:
    pool = SizeClass(100, split=8, short=0.25)
    assert pool.take(75) == (1, 75)
    assert pool.take(9) is None
    assert pool.take(8) == (0, 8)
    assert (pool.free(), pool.largest(8), pool.largest(9)) == (17, 17, 0)


def test_where_there_is_place_goes_by_the_class() -> None:
    pool = SizeClass(40, split=8, short=0.1)
    assert [pool.place(blocks) for blocks in (4, 5, 9, 36, 37)] == [NOW, NEVER, NOW, NOW, NEVER]
    pool.take(30)
    assert pool.place(9) == LATER


@pytest.mark.parametrize("blocks", [3, 20])
def test_each_piece_goes_back_to_its_class(blocks: int) -> None:
    pool = SizeClass(100, split=8, short=0.25)
    piece = pool.take(blocks)
    assert piece is not None
    pool.give(piece)
    with pytest.raises(ValueError, match="given back"):
        pool.give(piece)
    assert (pool.largest(1), pool.largest(9)) == (25, 75)
