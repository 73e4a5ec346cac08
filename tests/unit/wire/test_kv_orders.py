"""Orders as bytes, and a prompt's links as a header."""

import pytest

from pointsman.brain.model.commands import Carried, Evict, SwapOut
from pointsman.wire.kv_orders import MOST_LINKS, decode_answer, orders_of, pack_links, unpack_links


def test_orders_are_told_by_name() -> None:
    body = orders_of([Evict((2**64 - 1, 1)), SwapOut("r")])
    assert body == (
        b'{"orders":[{"order":"evict","links":[18446744073709551615,1]},{"order":"swap_out","request":"r"}]}'
    )


def test_an_answer_says_what_came_of_each() -> None:
    answer = decode_answer(b'{"done": [{"blocks": 3}, {"unknown": 1}], "lost": [7]}')
    assert answer.done == (Carried(blocks=3), Carried(unknown=1))
    assert answer.lost == (7,)


def test_links_are_the_same_behind_the_header() -> None:
    links = (0, 1, 2**64 - 1)
    assert unpack_links(pack_links(links).decode()) == links
    assert unpack_links("") == ()
    assert len(unpack_links(pack_links(range(MOST_LINKS + 9)).decode())) == MOST_LINKS


@pytest.mark.parametrize("value", ["$$$$", "AAAA", "AAA"])
def test_what_is_no_header_of_links_is_told(value: str) -> None:
    with pytest.raises(ValueError, match="x-pointsman-chain"):
        unpack_links(value)
