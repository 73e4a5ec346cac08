"""A conversation's next turn extends the bytes of its last."""

import json
from typing import Any

import pytest

from pointsman.wire.openai.body import read_body
from pointsman.wire.openai.prompt import identity, read_prompt
from pointsman.wire.openai.shapes import Prompt


def prompt_of(**members: Any) -> Prompt:
    return read_prompt(read_body(json.dumps({"model": "m", **members}).encode()))


USER = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
TOOLS = [{"type": "function", "function": {"name": "f"}}]


def test_turns_extend_each_other() -> None:
    first = prompt_of(messages=[USER], tools=TOOLS, temperature=1)
    second = prompt_of(tools=TOOLS, messages=[USER, ANSWER, USER])
    assert second.data.startswith(first.data)
    assert first.size == len(first.data)


def test_tools_come_first() -> None:
    with_tools, without = prompt_of(messages=[USER], tools=TOOLS), prompt_of(messages=[USER])
    assert not with_tools.data.startswith(without.data[:5])


def test_typed_apis() -> None:
    message = prompt_of(system="s", messages=[USER])
    assert message.data.startswith(b'\x00\x00"s"\x00')
    assert prompt_of(input="hello").data == b'"hello'
    assert prompt_of(input=[USER, USER]).data.startswith(prompt_of(input=[USER]).data)


@pytest.mark.parametrize("prompt", [[1, 2, 3], [[1, 2, 3]]])
def test_token_ids(prompt: object) -> None:
    assert prompt_of(prompt=prompt) == Prompt(token_ids=[1, 2, 3], size=3)


@pytest.mark.parametrize(("prompt", "data"), [("abc", b'"abc'), (["a", "b"], b'["a", "b"'), ([[1], [2]], b"[[1], [2]")])
def test_text(prompt: object, data: bytes) -> None:
    assert prompt_of(prompt=prompt).data == data


def test_caches_are_kept_apart() -> None:
    plain, adapted, keyed = (read_body(raw) for raw in (b"{}", b'{"lora_path":"x"}', b'{"extra_key":"x"}'))
    whose = [("a", plain, b""), ("b", plain, b""), ("a", plain, b'"x"'), ("a", adapted, b""), ("a", keyed, b"")]
    assert len({identity(*each) for each in whose}) == 5
