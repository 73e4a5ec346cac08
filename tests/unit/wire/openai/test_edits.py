"""Edits change what they declare and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.wire.openai.body import CONTROL_MEMBERS, read_body
from pointsman.wire.openai.edits import asks_for_usage, tenant_salt, with_salt, with_usage, without_control
from pointsman.wire.openai.shapes import Body

READ = frozenset(Body.__struct_fields__) - CONTROL_MEMBERS
"""Members whose values are checked: with another type of value the body is refused."""


def usage_asked(raw: bytes) -> bytes:
    return with_usage(raw, read_body(raw))


@pytest.mark.parametrize(
    ("raw", "asks"),
    [
        (b'{"stream_options":{"include_usage":true}}', True),
        (b'{"stream_options":{"include_usage":false}}', False),
        (b'{"stream_options":{}}', False),
        (b'{"stream_options":null}', False),
        (b"{}", False),
    ],
)
def test_asks_for_usage(raw: bytes, asks: bool) -> None:
    assert asks_for_usage(read_body(raw)) is asks


def test_usual_splice_keeps_every_byte() -> None:
    raw = rb' { "model" : "m", "x": 1.50, "y": "\ud83d" }'
    edited = usage_asked(raw)
    assert edited.replace(b'"stream_options":{"include_usage":true},', b"") == raw


@pytest.mark.parametrize("options", ["null", "{}", '{"include_usage":false,"continuous_usage_stats":true}'])
def test_options_already_there(options: str) -> None:
    raw = rb'{"model":"m","stream_options":' + options.encode() + rb',"z":"\ud83d","x":1.50}'
    edited = usage_asked(raw)
    assert edited.count(b"stream_options") == 1
    assert edited.endswith(rb'"z":"\ud83d","x":1.50}')
    document = json.loads(edited)
    assert document.pop("stream_options") == (json.loads(options) or {}) | {"include_usage": True}
    assert document == {key: value for key, value in json.loads(raw).items() if key != "stream_options"}


def test_control_members_go_wherever_they_are() -> None:
    raw = b'{"kv_transfer_params":{"a":"}]"},"model":"m","priority":1,"m\\u0061x":[1,{"priority":2}],"vllm_xargs":{}}'
    assert without_control(raw, read_body(raw)) == b'{"model":"m","m\\u0061x":[1,{"priority":2}]}'


def test_escaped_names_do_not_slip_through() -> None:
    raw = b'{"kv_transfer\\u005fparams":{"a":1},"model":"m"}'
    assert without_control(raw, read_body(raw)) == b'{"model":"m"}'


@pytest.mark.parametrize("name", sorted(CONTROL_MEMBERS))
def test_each_control_member_goes(name: str) -> None:
    raw = b'{"%b":null,"model":"m"}' % name.encode()
    assert without_control(raw, read_body(raw)) == b'{"model":"m"}'


def salted(raw: bytes, tenant: str) -> bytes:
    body = read_body(raw)
    return with_salt(raw, body, tenant_salt(body, tenant))


def test_no_tenant_produces_anothers_salt() -> None:
    raw = b'{"model":"m","cache_salt":"s","x":1.50}'
    of_a, of_b = salted(raw, "a"), salted(raw, "b")
    assert len({of_a, of_b, raw, salted(of_a, "b"), salted(raw.replace(b'"s"', b'"t"'), "a")}) == 5
    assert salted(raw, "a") == of_a
    assert json.loads(of_a) | {"cache_salt": "s"} == json.loads(raw)
    assert of_a.endswith(b'"model":"m","x":1.50}')


@pytest.mark.parametrize("salt", ["null", '""', "7", "{}"])
def test_what_is_no_salt_stays(salt: str) -> None:
    raw = b'{"model":"m","cache_salt":' + salt.encode() + b"}"
    assert salted(raw, "a") is raw
    assert salted(b'{"model":"m"}', "a") == b'{"model":"m"}'


def test_without_tenants_a_salt_stays() -> None:
    raw = b'{"model":"m","cache_salt":"s"}'
    assert salted(raw, "") is raw


def test_nothing_to_remove_is_the_same_object() -> None:
    raw = b'{"model":"m"}'
    assert without_control(raw, read_body(raw)) is raw


@given(
    st.dictionaries(
        st.text().filter(lambda name: name not in READ), st.text() | st.lists(st.text() | st.none()), max_size=6
    ),
    st.booleans(),
)
def test_any_body(document: dict[str, object], spaced: bool) -> None:
    document = {**document, "priority": 3, "model": "m"}
    raw = json.dumps(document, indent=2 if spaced else None).encode()
    edited = json.loads(without_control(raw, read_body(raw)))
    assert edited == {key: value for key, value in document.items() if key not in CONTROL_MEMBERS}
