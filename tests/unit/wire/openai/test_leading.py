"""The beginning of a prompt as a request of its own."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.wire.openai.leading import leading

SYSTEM = {"role": "system", "content": "You are a careful assistant. " * 10}
USER = {"role": "user", "content": "What is the capital of France? " * 5}


def encoded(**members: Any) -> bytes:
    return json.dumps(members).encode()


def cut(body: bytes, amount: int) -> Any:
    found = leading(body, amount)
    return None if found is None else json.loads(found)


def test_what_speaks_of_the_answer_is_left_out_and_the_rest_kept() -> None:
    body = encoded(
        model="m", messages=[SYSTEM, USER], stream=True, stream_options={"include_usage": True}, n=3,
        max_completion_tokens=500, min_tokens=20, temperature=0.5, cache_salt="s",
    )  # fmt: skip
    found = cut(body, 10_000)
    assert found == {"model": "m", "messages": [SYSTEM, USER], "max_tokens": 1, "temperature": 0.5, "cache_salt": "s"}


def test_a_message_is_cut_inside_its_text_and_a_user_has_the_last_word() -> None:
    body = encoded(messages=[SYSTEM, USER])
    found = cut(body, 150)
    system, last = found["messages"]
    assert SYSTEM["content"].startswith(system["content"])
    assert len(system["content"]) == 150 - len('[{"role": "system", "content": "')
    assert last == {"role": "user", "content": "."}
    whole = len(json.dumps([SYSTEM])) + 40
    assert [message["role"] for message in cut(body, whole)["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("body", "amount"),
    [
        (encoded(messages=[SYSTEM]), 20),
        (encoded(messages=[{"role": "user", "content": [{"type": "text", "text": "x" * 600}]}]), 300),
        (encoded(prompt="x" * 100), 0),
        (encoded(prompt=["x" * 100, "y"]), 50),
        (encoded(prompt=[[1, 2], [3]]), 2),
        (encoded(prompt=[1, 2]), 0),
        (encoded(input="x"), 10),
    ],
)
def test_what_cannot_be_cut_there_is_not(body: bytes, amount: int) -> None:
    assert leading(body, amount) is None


def test_tools_come_before_messages() -> None:
    tools = [{"type": "function", "function": {"name": "f" * 100}}]
    body = encoded(messages=[SYSTEM, USER], tools=tools)
    assert cut(body, len(json.dumps(tools))) is None
    found = cut(body, len(json.dumps(tools)) + 100)
    assert found["tools"] == tools
    assert SYSTEM["content"].startswith(found["messages"][0]["content"])


def test_ids_are_cut_by_count() -> None:
    assert cut(encoded(prompt=[1, 2, 3, 4], stream=True), 3) == {"prompt": [1, 2, 3], "max_tokens": 1}


ODD = st.text(st.sampled_from('aé😀"\\\n\u2028'), max_size=30)


@given(st.lists(ODD, min_size=1, max_size=3), st.integers(0, 400), st.booleans())
def test_wherever_it_is_cut_it_is_a_prompt_that_begins_alike(texts: list[str], amount: int, escaped: bool) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    body = json.dumps({"messages": messages}, ensure_ascii=escaped).encode()
    found = leading(body, amount)
    if found is None:
        return
    *kept, last = [message["content"] for message in json.loads(found)["messages"]]
    assert kept == texts[: len(kept)]
    assert texts[len(kept)].startswith(last)


@pytest.mark.parametrize("messages", [{"a": 1}, "hi", 7, [], [5], ["hi"], [None], [[USER]], [USER, 5]])
def test_messages_that_are_none_cannot_be_cut(messages: Any) -> None:
    assert cut(encoded(messages=messages), 10) is None


@pytest.mark.parametrize("role", [None, 7, [], {}])
def test_after_an_odd_role_a_user_has_the_last_word(role: Any) -> None:
    assert cut(encoded(messages=[{"role": role, "content": "x"}]), 100)["messages"][1]["role"] == "user"
