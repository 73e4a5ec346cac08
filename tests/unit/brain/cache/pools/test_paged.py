import pytest

from pointsman.brain.cache.pools.paged import Paged
from pointsman.brain.model.view import LATER, NEVER, NOW


def test_any_free_blocks_will_do() -> None:
    paged = Paged(10)
    first, second = paged.take(4), paged.take(4)
    assert (paged.free(), paged.largest(1), paged.most(1)) == (2, 2, 10)
    assert paged.take(3) is None
    assert [paged.place(blocks) for blocks in (2, 3, 11)] == [NOW, LATER, NEVER]
    for piece in (first, second):
        assert piece is not None
        paged.give(piece)
    assert paged.free() == 10


def test_more_cannot_be_given_back_than_is_taken() -> None:
    paged = Paged(10)
    paged.take(4)
    with pytest.raises(ValueError, match="5 blocks are given back, but only 4 are taken"):
        paged.give((0, 5))
    assert paged.free() == 6
