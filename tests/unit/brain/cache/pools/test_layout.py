import pytest

from pointsman.brain.cache.pools.buddy import Buddy
from pointsman.brain.cache.pools.layout import Layout
from pointsman.brain.cache.pools.paged import Paged
from pointsman.brain.cache.pools.size_class import SizeClass
from pointsman.brain.model.view import NEVER, NOW

LAYOUTS = [Paged(96), SizeClass(96, 8, 0.25), Buddy(96)]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: type(layout).__name__)
@pytest.mark.parametrize("blocks", [1, 7, 8, 9, 33, 64, 96, 97])
def test_to_ask_changes_nothing_and_foretells_what_is_taken(layout: Layout, blocks: int) -> None:
    before = layout.free(), layout.largest(blocks)
    place = layout.place(blocks)
    assert (layout.free(), layout.largest(blocks)) == before
    piece = layout.take(blocks)
    assert (piece is not None) == (place == NOW)
    assert place in (NEVER, NOW)
    if piece is not None:
        assert piece[1] == layout.granted(blocks)
        layout.give(piece)
    assert (layout.free(), layout.largest(blocks)) == before
