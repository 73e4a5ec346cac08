"""What was delivered is known to the byte, and what follows looks as if it came from the same engine."""

import json
from typing import Any

import pytest

from pointsman.wire.openai.delivered import Delivered, Identity, without_ids


def event(choice: dict[str, Any] | None, **more: Any) -> bytes:
    choices = [] if choice is None else [choice]
    head = {"id": "1", "object": "chat.completion.chunk", "created": 5, "model": "m"}
    return b"data: " + json.dumps(head | {"choices": choices} | more, separators=(",", ":")).encode() + b"\n\n"


def said(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    return event({"index": 0, "delta": delta, "finish_reason": finish, **more})


def seen(*events: bytes, by_tokens: bool = False) -> Delivered:
    delivered = Delivered()
    for each in events:
        delivered.see(each, by_tokens=by_tokens)
    return delivered


def test_text_is_kept_as_it_is_escaped() -> None:
    role = said({"role": "assistant", "content": ""})
    delivered = seen(role, said({"content": 'a"\n'}), event({"text": "é"}), b": comment\n\n", b"data: [DONE]\n\n")
    assert json.loads(b'"%b"' % delivered.text) == 'a"\né'
    assert delivered.tokens == 2
    assert delivered.plain


def test_half_a_character_pair_is_not_plain() -> None:
    half = event({"text": "x"}).replace(b'"x"', b'"\\ud83d"')
    assert not seen(half).plain


@pytest.mark.parametrize("delta", [{"tool_calls": [{"index": 0}]}, {"reasoning_content": "hm"}, {"refusal": "no"}])
def test_more_than_text_is_not_plain(delta: dict[str, Any]) -> None:
    assert not seen(said({"content": "a"}), said(delta)).plain


@pytest.mark.parametrize("odd", [5, True, {"a": "b"}, [{"type": "text", "text": "a"}]])
def test_a_text_that_is_no_string_is_not_plain(odd: Any) -> None:
    delivered = seen(said({"content": "a"}), said({"content": odd}))
    assert not delivered.plain
    assert delivered.text == b"a"
    assert not seen(event({"text": odd, "token_ids": [4]}), by_tokens=True).plain


@pytest.mark.parametrize("nothing", [None, "", []])
def test_no_content_says_nothing(nothing: Any) -> None:
    delivered = seen(said({"role": "assistant", "content": nothing}), said({"content": "a"}))
    assert delivered.plain
    assert (delivered.text, delivered.tokens) == (b"a", 1)


def test_ids_are_kept_with_those_of_the_prompt() -> None:
    first = event({"text": "a", "token_ids": [4], "prompt_token_ids": [1, 2]})
    delivered = seen(first, event({"text": "bc", "token_ids": [5, 6]}), by_tokens=True)
    assert (delivered.prompt_ids, delivered.ids.tolist(), delivered.tokens) == (b"[1,2]", [4, 5, 6], 3)
    assert seen(said({"content": ""}, prompt_token_ids=[7]), by_tokens=True).prompt_ids == b"[7]"


def test_a_token_without_text_waits_for_the_next() -> None:
    delivered = seen(event({"text": "", "token_ids": [4]}), by_tokens=True)
    assert delivered.tokens == 0
    delivered.see(event({"text": "é", "token_ids": [5]}), by_tokens=True)
    assert delivered.ids.tolist() == [4, 5]


def test_text_without_its_ids_cannot_be_continued_by_tokens() -> None:
    assert not seen(event({"text": "a"}), by_tokens=True).plain


def identity(*, is_chat: bool = True) -> Identity:
    one = Identity(is_chat=is_chat)
    one.learn(said({"role": "assistant", "content": ""}))
    one.learn(said({"content": "a"}).replace(b'"1"', b'"2"'))
    return one


def worn(data: bytes, tokens: int = 0) -> Any:
    return json.loads(identity().put_on(data, tokens)[6:])


def test_the_identity_is_that_of_the_first_event() -> None:
    other = said({"content": "b"}).replace(b'"id":"1"', b'"id":"9"').replace(b":5,", b":6,")
    assert identity().put_on(other, 0) == said({"content": "b"})


def test_a_completion_takes_the_shape_of_a_chat() -> None:
    data = event({"index": 0, "text": "b", "finish_reason": "stop", "prompt_token_ids": [1]}, object="text_completion")
    assert identity().put_on(data, 0) == said({"content": "b"}, "stop")


def test_no_second_role_comes_through() -> None:
    assert identity().put_on(said({"role": "assistant", "content": ""}), 0) == b""
    assert worn(said({"role": "assistant", "content": "b"}))["choices"][0]["delta"] == {"content": "b"}


@pytest.mark.parametrize(("cached", "right"), [(40, 20), (20, 20), (16, 16), (None, None), ("x", "x")])
def test_no_more_is_cached_than_the_prompt_has(cached: Any, right: Any) -> None:
    """A node that computed the beginning of the answer before has it cached, but it is no part of the prompt."""
    details = {"audio_tokens": 0, "cached_tokens": cached}
    usage = {"prompt_tokens": 30, "completion_tokens": 5, "prompt_tokens_details": details}
    told = worn(event(None, usage=usage), 10)["usage"]["prompt_tokens_details"]
    assert told == {"audio_tokens": 0, "cached_tokens": right}


def test_usage_is_that_of_the_whole_answer() -> None:
    told = event(None, usage={"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35, "details": None})
    expected = {"prompt_tokens": 20, "completion_tokens": 15, "total_tokens": 35, "details": None}
    assert worn(told, 10)["usage"] == expected


@pytest.mark.parametrize("data", [b"data: [DONE]\n\n", b": ping\n\n", b'data: {"error":{"message":"x"}}\n\n'])
def test_what_is_no_chunk_passes(data: bytes) -> None:
    assert identity().put_on(data, 1) == data


def test_ids_are_taken_out_and_nothing_else() -> None:
    shown = event({"index": 0, "text": 'a,"token_ids":[1]', "finish_reason": None})
    told = event({"index": 0, "text": 'a,"token_ids":[1]', "finish_reason": None, "token_ids": [1, 2]})
    assert without_ids(told) == shown
    assert without_ids(event(None, prompt_token_ids=[1, 2])) == event(None)
    assert without_ids(event(None, prompt_token_ids=None)) == event(None)


ODD: list[Any] = [None, 5, "x", [5], [None], {}, {"a": 1}, 2**70]


@pytest.mark.parametrize("odd", ODD)
def test_a_rest_with_odd_members_passes_all_the_same(odd: Any) -> None:
    told = identity().put_on(event({"index": 0, "delta": {"content": "b"}}, usage=odd), 10)
    assert json.loads(told[6:]).get("usage") == odd
    assert identity().put_on(event(None, choices=odd), 10) == b""
    assert worn(event({"index": 0, "delta": odd, "finish_reason": "stop"}))["choices"][0]["finish_reason"] == "stop"


def test_a_rest_with_a_name_that_is_no_text_passes_as_it_is() -> None:
    whole = b'data: {"\xff":1,"choices":[]}\n\n'
    assert identity().put_on(whole, 10) == whole
    assert b'"usage":{"\xff":1}' in identity().put_on(b'data: {"choices":[],"usage":{"\xff":1}}\n\n', 10)


@pytest.mark.parametrize("odd", [-1, 2**63, 2**70, 1.5, "x", None])
def test_what_cannot_be_a_tokens_id_is_not_plain(odd: Any) -> None:
    assert not seen(event({"text": "a", "token_ids": [4, odd]}), by_tokens=True).plain
    assert seen(event({"text": "a", "token_ids": [4, 2**63 - 1]}), by_tokens=True).plain
