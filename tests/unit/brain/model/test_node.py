import msgspec
import pytest

from pointsman.brain.model.node import NodeSpec


def test_a_node_is_called_by_its_id_else_its_address_and_rank() -> None:
    assert NodeSpec(url="http://a", id="x").name == "x"
    assert NodeSpec(url="http://a").name == "http://a"
    assert NodeSpec(url="http://a", rank=0).name == "http://a#0"


@pytest.mark.parametrize(
    "wrong",
    [
        {"slots": 0},
        {"slots": 10**10},
        {"kv_tokens": 2**63},
        {"rank": -1},
        {"weight": 0.0},
        {"weight": 1e308},
        {"block_tokens": 0},
        {"engine": "other"},
        {"uri": ""},
        {"id": "a\r\nb"},
        {"id": "a\n"},
        {"id": "\x00"},
        {"id": "x" * 257},
        {"url": "http://" + "a" * 3000},
    ],
)
def test_what_cannot_be_is_refused_when_read(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"url": "http://a", **wrong}, NodeSpec)
