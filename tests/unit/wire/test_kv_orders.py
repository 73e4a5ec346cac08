"""Orders as bytes, and a prompt's links as a header."""

import msgspec
import pytest

from pointsman.brain.model.commands import Carried, Evict, SwapOut
from pointsman.wire.kv_orders import MOST_LINKS, decode_answer, decode_status, orders_of, pack_links, unpack_links


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


STATUS = '{"obeys": true, "blocks": 9, "free": 9, "cached": 0, "named": 0, "pinned": 0, "tiers": [%s]}'
TIER = '{"blocks": %s, "free": %s, "seconds_per_block": %s}'


def test_a_count_that_cannot_be_is_no_answer() -> None:
    """A counter must not fall by it, and no number be too large for a float."""
    for blocks in ("-1", "1" + 400 * "0", "1.5", "true", "null"):
        with pytest.raises(msgspec.DecodeError):
            decode_answer(f'{{"done": [{{"blocks": {blocks}}}]}}'.encode())
    assert decode_status((STATUS % TIER % (9, 9, 0.1)).encode()).tiers[0].free == 9
    for tier in ((9, "1" + 400 * "0", 0.1), (9, -1, 0.1), (9, 9, -0.1), (9, 9, "1e999"), (9, 9, "NaN")):
        with pytest.raises(msgspec.DecodeError):
            decode_status((STATUS % TIER % tier).encode())
