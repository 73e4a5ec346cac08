"""Members as spans of bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.openai.members import members, value_of, with_member, without

leaves = st.none() | st.booleans() | st.integers() | st.text()
nested = st.recursive(
    leaves, lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(), x, max_size=4), max_leaves=8
)
objects = st.dictionaries(st.text(), nested, max_size=6)


@given(objects, st.sampled_from([None, 1]))
def test_spans_are_the_members(document: dict[str, object], indent: int | None) -> None:
    raw = json.dumps(document, indent=indent).encode()
    found = {member.name: json.loads(raw[member.value : member.end]) for member in members(raw)}
    assert found == document


@given(objects, st.text(alphabet="abc", min_size=1))
def test_setting_and_removing(document: dict[str, object], name: str) -> None:
    raw = with_member(json.dumps(document).encode(), name, b"[7]")
    assert json.loads(raw) == document | {name: [7]}
    assert value_of(raw, name) == b"[7]"
    assert name not in json.loads(without(raw, frozenset((name,))))


def test_odd_keys() -> None:
    raw = rb'{"\ud83d":1,"a":2}'
    assert [member.name for member in members(raw)][1] == "a"
    assert value_of(b"{}", "a") == b""


@pytest.mark.parametrize("raw", [b'{"a":1,"a":2}', b'{"a":1,"b":2,"a":"long"}', b'{"a":"long","\\u0061":1}'])
def test_a_name_that_is_there_twice(raw: bytes) -> None:
    with pytest.raises(BadRequest, match="more than once"):
        members(raw)


def test_a_name_that_is_there_twice_in_front_of_what_is_looked_for() -> None:
    with pytest.raises(BadRequest, match="more than once"):
        value_of(b'{"a":"long","a":1,"b":[]}', "b")


def test_surrogates_stay() -> None:
    raw = rb'{ "a":"\ud83d" , "b" : ["\ud83d"],"c":1}'
    assert without(raw, frozenset("c")) == rb'{"a":"\ud83d","b" : ["\ud83d"]}'


def test_a_million_members_are_too_many() -> None:
    with pytest.raises(BadRequest, match="more than"):
        members(b"{%b}" % b",".join(b'"%d":0' % number for number in range(10_001)))


@pytest.mark.parametrize("name", [b"\xff", b"\xed\xbb\xbf", b"\\ud83d\xff"])
def test_a_name_that_is_no_text(name: bytes) -> None:
    with pytest.raises(BadRequest, match="UTF-8"):
        members(b'{"a":1,"%b":2}' % name)
