"""Request bodies become sequences."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.api.errors import ApiError
from pointsman.engine.api.intake import Intake, Prompt, decoder, prompts_of
from pointsman.engine.api.requests import ChatRequest, CompletionRequest
from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.text.tokens import split

CONFIG = EngineConfig(kv_blocks=100, block_size=4)
INTAKE = Intake(CONFIG, profile_of(CONFIG))


def completion(**body: Any) -> CompletionRequest:
    return decoder(CompletionRequest)(msgspec.json.encode({"prompt": "hi", **body}))


@given(text=st.text(min_size=1), block_size=st.integers(1, 8))
def test_a_prompt_is_its_full_blocks_and_a_tail(text: str, block_size: int) -> None:
    prompt = Prompt.of(text.encode(), block_size)
    tokens = split(text.encode())
    assert prompt.tokens == len(tokens)
    assert len(prompt.hashes) == len(tokens) // block_size
    assert split(prompt.tail) == tokens[len(prompt.hashes) * block_size :]
    assert len(split(prompt.tail)) == prompt.tail_tokens


def test_completions_are_sixteen_tokens_long_unless_told_otherwise() -> None:
    assert INTAKE.completion(completion(), "r").choices[0].sequence.max_tokens == 16
    assert INTAKE.completion(completion(max_tokens=None), "r").choices[0].sequence.max_tokens == 399


def test_max_completion_tokens_wins_over_max_tokens() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 5, "max_completion_tokens": 7}
    job = INTAKE.chat(decoder(ChatRequest)(msgspec.json.encode(body)), "r")
    assert job.choices[0].sequence.max_tokens == 7


def test_null_fields_mean_their_defaults() -> None:
    nulls = dict.fromkeys(("stream", "stop", "n", "min_tokens", "priority", "ignore_eos", "stream_options", "model"))
    job = INTAKE.completion(completion(**nulls), "r")
    assert (len(job.choices), job.stream) == (1, False)


def test_every_choice_has_a_sequence_and_a_cache_chain_of_its_own() -> None:
    choices = INTAKE.completion(completion(prompt="a b c d e", n=2), "r").choices
    first, second = (choice.sequence for choice in choices)
    assert first.key != second.key
    assert first.hashes == second.hashes
    assert first.hashes is not second.hashes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a b", [b"a b"]),
        (["a", "b"], [b"a", b"b"]),
        ([0x161, 0x12062], [b"a b"]),
        ([[0x161], "b"], [b"a", b"b"]),
    ],
)
def test_prompts_come_in_four_forms(value: Any, expected: list[bytes]) -> None:
    assert prompts_of(value) == expected


@pytest.mark.parametrize("value", [[], ["a", 1], [[-5]]])
def test_other_forms_are_refused(value: Any) -> None:
    with pytest.raises(ApiError):
        prompts_of(value)


def test_a_wrong_field_is_named() -> None:
    with pytest.raises(ApiError, match="max_tokens"):
        completion(max_tokens="many")


def test_deep_nesting_is_the_clients_fault() -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    with pytest.raises(ApiError):
        decoder(CompletionRequest)(b'{"prompt":"hi","else":%b}' % deep)
