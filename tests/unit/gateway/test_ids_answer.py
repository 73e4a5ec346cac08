"""Answers with token ids that the client did not ask for, however they are cut."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.request import Request
from pointsman.gateway.ids_answer import IdsPlainAnswer, IdsStreamAnswer, telling_answer
from pointsman.gateway.reply import Reply
from pointsman.gateway.token_join import Telling, prompt_ids
from pointsman.gateway.work import Work
from pointsman.wire.http1.messages import RequestHead, ResponseHead
from pointsman.wire.openai.account import ChatAccount

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
PATH = b"/v1/completions"
CLIENT = RequestHead(
    method=b"POST", target=PATH, path=PATH, fields={}, onward=b"", keep_alive=True, modern=True, expects_continue=False
)
STREAM = ResponseHead(200, b"HTTP/1.1 200 OK\r\n", {b"content-type": b"text/event-stream"}, True, False)
JSON = ResponseHead(200, b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n", {}, False, False)


class Transport:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


class Heard:
    """What was told: in the place of `Telling` and of progress."""

    def __init__(self) -> None:
        self.ids: list[Any] = []
        self.firsts = 0

    def told(self, ids: bytes) -> None:
        self.ids.append(json.loads(ids))

    def first_token(self) -> None:
        self.firsts += 1

    def more_tokens(self, count: int) -> None: ...


def reply() -> tuple[Reply, Transport]:
    transport = Transport()
    return Reply(cast(Any, transport), CLIENT), transport


def recorded(name: str) -> bytes:
    body, rest = b"", (VLLM / f"{name}.http").read_bytes().partition(b"\r\n\r\n")[2]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return body


@pytest.mark.parametrize("name", ["chat_stream_token_ids", "completion_stream_token_ids"])
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_recorded_stream_is_the_clients_without_them(name: str, step: int) -> None:
    data, heard, (to, transport) = recorded(name), Heard(), reply()
    answer = IdsStreamAnswer(STREAM, to, b"r", ChatAccount(), heard, False, cast(Telling, heard))
    for start in range(0, len(data), step):
        answer.take(data[start : start + step])
    assert answer.end().verdict is Verdict.OK
    assert len(heard.ids) == 1
    assert len(heard.ids[0]) >= 3
    assert b"token_ids" not in transport.data
    assert heard.firsts == 1
    assert answer.shortcut() is None
    assert transport.data.count(b"data: ") == data.count(b"data: ")


def test_a_whole_answer_is_sent_with_its_new_length() -> None:
    body = {
        "choices": [{"text": 'says "token_ids":[1]', "token_ids": [5], "prompt_token_ids": [1, 2, 3]}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
    heard, (to, transport) = Heard(), reply()
    answer = IdsPlainAnswer(JSON, to, b"r", cast(Telling, heard))
    data = json.dumps(body).encode()
    for start in range(0, len(data), 9):
        answer.take(data[start : start + 9])
    outcome = answer.end()
    assert heard.ids == [[1, 2, 3]]
    head, _, sent = transport.data.partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(sent) in head
    assert json.loads(sent) == {"choices": [{"text": 'says "token_ids":[1]'}], "usage": body["usage"]}
    assert (outcome.verdict, outcome.prompt_tokens, outcome.completion_tokens) == (Verdict.OK, 3, 1)


def test_an_error_in_a_good_answer_is_still_one() -> None:
    to, transport = reply()
    answer = IdsPlainAnswer(JSON, to, b"r", cast(Telling, Heard()))
    answer.take(b'{"error":{"message":"no","code":500}}')
    assert answer.end().reason == "inband_error"
    assert b'"no"' in transport.data


def test_one_that_is_cut_has_reached_nobody() -> None:
    to, transport = reply()
    answer = IdsPlainAnswer(JSON, to, b"r", cast(Telling, Heard()))
    answer.take(b'{"choi')
    outcome = answer.cut("reset")
    assert (outcome.verdict, outcome.delivered, transport.data) == (Verdict.FAIL, False, b"")


def test_ids_are_found_at_the_top_and_in_choices_and_nowhere_else() -> None:
    assert prompt_ids(b'{"prompt_token_ids":[1,2]}') == b"[1,2]"
    assert prompt_ids(b'{"prompt_token_ids":null,"choices":[{},{"prompt_token_ids":[3]}]}') == b"[3]"
    assert prompt_ids(b'{"choices":[{"text":"prompt_token_ids"}]}') == b""
    assert prompt_ids(b"nonsense") == b""


def test_what_answers_by_a_stream_and_what_does_not() -> None:
    heard = Heard()
    asked = Request(id="r", model="m", stream=True)
    work = Work(id=b"r", head=CLIENT, body=b"{}", request=asked, events="choices", expires=9.0)
    for head, kind in ((STREAM, IdsStreamAnswer), (JSON, IdsPlainAnswer)):
        made = telling_answer(head, reply()[0], work, cast(Telling, heard), heard)
        assert type(made) is kind
