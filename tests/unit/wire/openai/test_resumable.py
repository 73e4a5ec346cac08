"""Which requests can go on, and how the rest is asked for."""

import json
from typing import Any

import pytest

from pointsman.wire.openai.delivered import Delivered
from pointsman.wire.openai.resumable import Asked, Mode, asked, continuation, leaves_any, with_ids

MESSAGES = [{"role": "user", "content": "hi"}]
CHAT: dict[str, Any] = {"model": "m", "messages": MESSAGES}
COMPLETION: dict[str, Any] = {"model": "m", "prompt": 'a "b', "max_tokens": 20}


def made(body: dict[str, Any], mode: Mode = "text") -> Asked | None:
    return asked(json.dumps(body).encode(), mode, is_chat="messages" in body)


def rest(body: dict[str, Any], mode: Mode, delivered: Delivered) -> Any:
    request = made(body, mode)
    assert request is not None
    return json.loads(continuation(request, delivered))


def text(*pieces: str) -> Delivered:
    delivered = Delivered()
    for piece in pieces:
        delivered.see(b'data: {"choices":[{"text":%b}]}\n\n' % json.dumps(piece).encode(), by_tokens=False)
    return delivered


def ids(prompt: list[int], answer: list[int]) -> Delivered:
    delivered = Delivered()
    delivered.prompt_ids = json.dumps(prompt).encode()
    delivered.ids.extend(answer)
    delivered.tokens = len(answer)
    return delivered


def test_off_is_never() -> None:
    assert made(COMPLETION, "off") is None


FOREIGN: list[dict[str, Any]] = [
    {"n": 2},
    {"best_of": 3},
    {"logprobs": 1},
    {"echo": True},
    {"tools": [{"type": "function"}]},
    {"response_format": {"type": "json_object"}},
    {"frequency_penalty": 0.1},
    {"presence_penalty": -1},
    {"stop": "END"},
    {"stop": ["x", "END"]},
    {"stop": 5},
    {"continue_final_message": True},
]


@pytest.mark.parametrize("more", FOREIGN)
@pytest.mark.parametrize("body", [CHAT, COMPLETION])
def test_what_is_more_than_text_or_depends_on_where_it_began(body: dict[str, Any], more: dict[str, Any]) -> None:
    assert made(body) is not None
    assert made(body | more, "text") is None
    assert made(body | more, "tokens") is None


HARMLESS: list[dict[str, Any]] = [
    {"n": 1},
    {"n": None},
    {"logprobs": None},
    {"tools": []},
    {"presence_penalty": 0},
    {"frequency_penalty": 0.0},
    {"stop": "\n"},
    {"stop": []},
    {"stop": None},
    {"temperature": 0.5},
]


@pytest.mark.parametrize("more", HARMLESS)
def test_what_changes_nothing(more: dict[str, Any]) -> None:
    assert made(COMPLETION | more) is not None
    assert made(CHAT | more, "tokens") is not None


def test_a_completion_needs_a_limit_and_one_prompt() -> None:
    assert made({"model": "m", "prompt": "a"}) is None
    assert made(COMPLETION | {"prompt": ["a", "b"]}) is None
    assert made(COMPLETION | {"prompt": [1, 2]}) is None, "no text can be put behind ids"
    assert made(COMPLETION | {"prompt": [1, 2]}, "tokens") is not None
    assert made(COMPLETION | {"prompt": [[1], [2]]}, "tokens") is None


def test_an_image_has_no_ids() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    words = {"role": "user", "content": [{"type": "text", "text": "x"}]}
    assert made(CHAT | {"messages": [picture]}, "tokens") is None
    assert made(CHAT | {"messages": [words]}, "tokens") is not None
    assert made(CHAT | {"messages": []}) is None


def test_a_completion_by_text() -> None:
    body = rest(COMPLETION | {"min_tokens": 3}, "text", text(" c\n", '"é'))
    assert body == {"model": "m", "prompt": 'a "b c\n"é', "max_tokens": 18, "min_tokens": 1}


def test_a_chat_by_text() -> None:
    body = rest(CHAT | {"max_tokens": 9}, "text", text("so", "me"))
    said = {"role": "assistant", "content": "some"}
    assert body["messages"] == [*MESSAGES, said]
    assert (body["continue_final_message"], body["add_generation_prompt"], body["max_tokens"]) == (True, False, 7)


def test_a_completion_by_tokens() -> None:
    body = rest(COMPLETION | {"return_token_ids": True}, "tokens", ids([1, 2], [3, 4, 5]))
    assert body == {"model": "m", "prompt": [1, 2, 3, 4, 5], "max_tokens": 17, "return_token_ids": True}


def test_a_chat_by_tokens_is_a_completion() -> None:
    limits = {"max_completion_tokens": 9, "max_tokens": 50, "min_tokens": 1}
    body = rest(CHAT | limits | {"temperature": 0, "logprobs": False}, "tokens", ids([1], [2, 3]))
    expected = {"model": "m", "prompt": [1, 2, 3], "max_tokens": 7, "min_tokens": 0, "temperature": 0}
    assert body == expected | {"return_token_ids": True}
    assert rest(CHAT, "tokens", ids([1], [2]))["max_tokens"] is None, "else a completion's small default would hold"


def test_before_anything_was_delivered_the_request_is_the_same() -> None:
    assert rest(COMPLETION, "text", Delivered()) == COMPLETION
    assert rest(CHAT, "tokens", Delivered()) == CHAT | {"return_token_ids": True}


def test_ids_are_asked_for_once() -> None:
    request = made(COMPLETION | {"return_token_ids": False}, "tokens")
    assert request is not None
    assert not request.shows_ids
    assert with_ids(request).count(b"return_token_ids") == 1


def test_an_answer_at_its_limit_leaves_nothing() -> None:
    request = made(COMPLETION)
    assert request is not None
    assert leaves_any(request, 19)
    assert not leaves_any(request, 20)


@pytest.mark.parametrize(
    "odd", [b'"a":1,"a":2', b'"\xff":1', rb'"\ud83d":1', b",".join(b'"%d":0' % each for each in range(10_001))]
)
@pytest.mark.parametrize("mode", ["text", "tokens"])
def test_what_could_not_be_edited_is_not_continued(odd: bytes, mode: Mode) -> None:
    assert asked(b'{"messages":[{}],%b}' % odd, mode, is_chat=True) is None
