"""Bodies are read as far as needed, whatever else they hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.openai.body import CONTROL_MEMBERS, is_ordinary, output_limit, present, read_body, steers


def test_members() -> None:
    body = read_body(b'{"model":"m","stream":true,"n":2,"max_tokens":null,"max_completion_tokens":7,"x":{"y":[1]}}')
    assert (body.model, body.stream, body.n, output_limit(body)) == ("m", True, 2, 7)
    assert present(body.messages) == b""


@pytest.mark.parametrize("escape", [rb"\ud83d", rb"\uDC00", rb"a\ud83d\ud83d b", rb"\udc00\ud83d"])
def test_lone_surrogates(escape: bytes) -> None:
    body = read_body(b'{"model":"m","messages":[{"content":"' + escape + b'"}],"user":"' + escape + b'"}')
    assert body.model == "m"
    assert present(body.messages).startswith(b'[{"content":"')


def test_surrogate_pairs_are_left_alone() -> None:
    raw = rb'{"model":"\ud83d\ude00","prompt":"\ud83d\ude00 \ud83d"}'
    body = read_body(raw)
    assert body.model == "\U0001f600"
    assert present(body.prompt) == rb'"\ud83d\ude00 \ufffd"'


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'"x"', b'{"model":1}', b'{"n":"2"}', b'{"model":"m"} x', b"\xff"])
def test_refused(raw: bytes) -> None:
    with pytest.raises(BadRequest):
        read_body(raw)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", [*CONTROL_MEMBERS, "cache_salt", "extra_key", "lora_path", "previous_response_id"])
def test_members_out_of_the_ordinary(name: str) -> None:
    for value in (b"null", b"1", b'"x"'):
        body = read_body(b'{"model":"m","%b":%b,"messages":[]}' % (name.encode(), value))
        assert not is_ordinary(body)
        assert steers(body) == (name in CONTROL_MEMBERS)


def test_usual_members() -> None:
    usual = b'"messages":[],"prompt":"","input":"","system":"","instructions":"","tools":[],"user":"u","temperature":1'
    body = read_body(b'{"model":"m","stream":true,"stream_options":{},"n":1,"chat_template_kwargs":{},%b}' % usual)
    assert is_ordinary(body)
    assert not steers(body)


@given(st.dictionaries(st.text(min_size=1).map(lambda key: "x-" + key), values, max_size=5))
def test_unknown_members_never_matter(extra: dict[str, object]) -> None:
    body = read_body(json.dumps({**extra, "model": "m", "messages": [extra]}).encode())
    assert body.model == "m"
    assert json.loads(present(body.messages)) == [extra]
