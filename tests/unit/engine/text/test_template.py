"""The chat template and the continuation it must allow."""

import pytest

from pointsman.engine.text.template import MEDIA_TOKENS, Message, render
from pointsman.engine.text.tokens import split, to_text

USER = Message("user", "hi")


def text(*messages: Message, **options: bool) -> str:
    return to_text(render(messages, **options))


def test_messages_stand_between_their_tokens() -> None:
    assert text(Message("system", "be"), USER) == "<|system|>be<|end|><|user|>hi<|end|><|assistant|>"


def test_no_answer_is_asked_for() -> None:
    assert text(USER, add_generation_prompt=False) == "<|user|>hi<|end|>"


def test_continuing_an_answer_is_the_prompt_that_was_cut() -> None:
    asked = render([USER])
    continued = render(
        [USER, Message("assistant", " and so")], add_generation_prompt=False, continue_final_message=True
    )
    assert continued == asked + b" and so"


def test_the_next_turn_begins_with_the_last_one() -> None:
    assert render([USER, Message("assistant", " yes"), USER]).startswith(render([USER]) + b" yes")


def test_parts_are_joined_and_null_is_nothing() -> None:
    parts = Message("user", [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}])
    assert render([parts]) == render([USER])
    assert text(Message("assistant", None, tool_calls=[{"id": "x"}])) == (
        '<|assistant|><|tool|>[{"id":"x"}]<|end|><|assistant|>'
    )


def test_an_image_costs_a_fixed_charge_and_keeps_its_identity() -> None:
    def prompt(url: str) -> bytes:
        return render([Message("user", [{"type": "image_url", "image_url": {"url": url}}])])

    assert prompt("data:a") != prompt("data:b")
    assert len(split(prompt("data:" + "a" * 100_000))) == len(split(prompt("x"))) == MEDIA_TOKENS + 3


def test_tools_are_part_of_the_prompt() -> None:
    assert to_text(render([USER], [{"name": "f"}])).startswith('<|system|>[{"name":"f"}]<|end|>')


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Message("wizard", "hi"), "unknown role"),
        (Message("user", [{"type": "smell"}]), "unknown content part"),
        (Message("user", [{"type": "text", "text": 3}]), "must hold a string"),
    ],
)
def test_what_cannot_be_rendered_is_refused(message: Message, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        render([message])


def test_contradictions_are_refused() -> None:
    with pytest.raises(ValueError, match="Cannot set both"):
        render([USER], continue_final_message=True)
    with pytest.raises(ValueError, match="must not be empty"):
        render([])
