"""What the raw client makes of an answer."""

import pytest
from scene.asks import Ask, make
from scene.client import Answer

STREAM = make("s", [{"role": "user", "content": "hi"}], True, 4)
PLAIN = make("p", [{"role": "user", "content": "hi"}], False, 4)


def answer(ask: Ask = STREAM, **fields: object) -> Answer:
    whole = {"status": 200, "text": ask.text, "dones": 1, "finish": "stop", "complete": True, "moments": [1.0]}
    return Answer(ask, 0.0, **whole | fields)  # type: ignore[arg-type]


def test_the_right_text_is_that_of_the_prompt() -> None:
    assert len(STREAM.text.split()) == 4
    assert STREAM.text == PLAIN.text
    assert make("s", [{"role": "user", "content": "ho"}], True, 4).text != STREAM.text


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "ok"),
        ({"text": STREAM.text[1:]}, "wrong text"),
        ({"finish": ""}, "no finish reason"),
        ({"dones": 0}, "0 times [DONE]"),
        ({"dones": 2}, "2 times [DONE]"),
        ({"errors": 1, "finish": "", "text": STREAM.text[:5]}, "error event"),
        ({"errors": 1, "finish": "", "text": "x"}, "wrong end"),
        ({"errors": 1}, "wrong end"),
        ({"errors": 2, "finish": "", "text": ""}, "wrong end"),
        ({"complete": False}, "cut off"),
        ({"complete": False, "status": 0}, "no answer"),
        ({"complete": False, "was_cut": True}, "left"),
        ({"status": 503}, "status 503"),
        ({"strange": "a torn event"}, "strange: a torn event"),
    ],
)
def test_an_answer_is_ok_only_if_all_of_it_is(fields: dict[str, object], verdict: str) -> None:
    assert answer(**fields).verdict == verdict


def test_a_plain_answer_needs_the_right_text_and_an_end() -> None:
    assert answer(PLAIN, dones=0).verdict == "ok"
    assert answer(PLAIN, finish="").verdict == "wrong answer"
    assert answer(PLAIN, text="").verdict == "wrong answer"
