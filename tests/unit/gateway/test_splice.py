"""Whatever the cut and however the bytes fall, the client's stream is the one it would have had."""

import asyncio
import json
from typing import Any, cast

import pytest

from pointsman.brain.model.errors import NodeFailed
from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.request import Request
from pointsman.gateway.reply import Reply
from pointsman.gateway.splice import RefusedRest, Splice, SplicedAnswer
from pointsman.gateway.work import Work
from pointsman.wire.http1.messages import RequestHead, ResponseHead
from pointsman.wire.openai.resumable import Mode, asked

ANSWERED = ResponseHead(200, b"HTTP/1.1 200 OK\r\n", {b"content-type": b"text/event-stream"}, True, False)
REFUSED = ResponseHead(400, b"HTTP/1.1 400 X\r\n", {}, False, False)
FULL = ResponseHead(503, b"HTTP/1.1 503 X\r\n", {}, False, False)
WORDS = [" one", " two", ' "three"', " föur", " five"]
DONE = b"data: [DONE]\n\n"


class Transport:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]


class Listener:
    def __init__(self) -> None:
        self.firsts = 0

    def first_token(self) -> None:
        self.firsts += 1

    def more_tokens(self, count: int) -> None: ...


class Engine:
    """Writes the rest of WORDS behind what a body says is there already."""

    def __init__(self, path: str, mode: Mode) -> None:
        self.chat = "chat" in path
        self.mode = mode

    def events(self, work: Work, number: int) -> list[bytes]:
        body = json.loads(work.body)
        chat = work.head.target.endswith(b"/chat/completions")
        at = self._delivered(body)
        head = {"id": f"id-{number}", "object": "chat" if chat else "text", "created": number, "model": "m"}
        made = [head | {"choices": [self._choice(chat, at + index, word)]} for index, word in enumerate(WORDS[at:])]
        if chat:
            role = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
            made.insert(0, head | {"choices": [role]})
        made.append(head | {"choices": [], "usage": {"prompt_tokens": 3 + at, "completion_tokens": len(WORDS) - at}})
        if self.mode == "tokens":
            made[0]["prompt_token_ids"] = [1, 2, 3]
        return [b"data: " + json.dumps(each, separators=(",", ":")).encode() + b"\n\n" for each in made] + [DONE]

    def _choice(self, chat: bool, index: int, word: str) -> dict[str, Any]:
        text: dict[str, Any] = {"delta": {"content": word}} if chat else {"text": word}
        ids = {"token_ids": [index]} if self.mode == "tokens" else {}
        return {"index": 0, **text, **ids, "finish_reason": "stop" if index == len(WORDS) - 1 else None}

    def _delivered(self, body: dict[str, Any]) -> int:
        if self.mode == "tokens":
            return len(body["prompt"]) - 3 if isinstance(body.get("prompt"), list) else 0
        last = body["messages"][-1]["content"] if self.chat else body["prompt"]
        assert last.startswith("p")
        return sum(last.count(word) for word in WORDS)


class Client:
    """Asks, and reads what the tries of its request leave."""

    def __init__(self, path: str, mode: Mode, **more: Any) -> None:
        self.transport = Transport()
        self.told = Listener()
        prompt: dict[str, Any] = {"messages": [{"role": "user", "content": "p"}]} if "chat" in path else {"prompt": "p"}
        data = json.dumps(prompt | {"max_tokens": 9, "stream": True} | more).encode()
        head = RequestHead(
            method=b"POST",
            target=path.encode(),
            path=path.encode(),
            fields={},
            keep_alive=True,
            modern=False,
            onward=b"",
            expects_continue=False,
        )
        request = asked(data, mode, is_chat="chat" in path)
        assert request is not None
        work = Work(id=b"r", head=head, body=data, request=Request(id="r", model="m", stream=True), expires=9.0)
        self.reply = Reply(cast(asyncio.WriteTransport, self.transport), head)
        self.splice = Splice(work, request, self.reply)
        self.engine = Engine(path, mode)

    def attempt(self, number: int) -> tuple[SplicedAnswer, list[bytes]]:
        events = self.engine.events(self.splice.work(), number)
        answer = self.splice.answer(ANSWERED, self.told)
        assert isinstance(answer, SplicedAnswer)
        return answer, events


def feed(answer: SplicedAnswer, data: bytes, size: int) -> None:
    for at in range(0, len(data), size):
        answer.take(data[at : at + size])


PATHS: list[tuple[str, Mode]] = [
    ("/v1/completions", "text"),
    ("/v1/completions", "tokens"),
    ("/v1/chat/completions", "tokens"),
]


def undisturbed(path: str, mode: Mode) -> bytes:
    client = Client(path, mode)
    answer, events = client.attempt(1)
    feed(answer, b"".join(events), 1 << 20)
    assert answer.end().verdict is Verdict.OK
    return client.transport.body()


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(("path", "mode"), PATHS)
def test_a_stream_cut_behind_any_byte_is_whole(path: str, mode: Mode, size: int) -> None:
    whole = undisturbed(path, mode)
    length = len(b"".join(Client(path, mode).attempt(1)[1]))
    for cut in range(0, length, 1 if size > 100 else 13):
        client = Client(path, mode)
        answer, events = client.attempt(1)
        feed(answer, b"".join(events)[:cut], size)
        outcome = answer.cut("reset")
        if client.splice.over:  # it had its last word
            assert client.transport.body().endswith(DONE)
            continue
        assert outcome.resumable == client.splice.begun
        answer, events = client.attempt(1 if not client.splice.begun else 2)
        feed(answer, b"".join(events), size)
        assert answer.end().verdict is Verdict.OK
        assert client.transport.body() == whole, cut
        assert client.told.firsts == 1 + outcome.resumable


def test_a_chunk_that_takes_the_shortcut_is_kept_as_well() -> None:
    client = Client("/v1/completions", "text")
    client.reply._modern = True
    answer, events = client.attempt(1)
    for event in events[:2]:
        answer.take(event)
    shortcut = answer.shortcut()
    assert shortcut is not None
    assert shortcut[1].passes(b"%x\r\n%b\r\n" % (len(events[2]), events[2]))
    assert not shortcut[1].passes(events[2])
    assert answer.cut("reset").new_tokens == 3
    assert json.loads(client.splice.work().body)["prompt"] == "p" + "".join(WORDS[:3])


def test_what_a_gathered_end_held_leaves_when_there_is_more_to_come() -> None:
    client = Client("/v1/completions", "text")
    answer, events = client.attempt(1)
    answer.take(events[0])
    client.reply.gather()
    answer.take(events[1])
    assert answer.end().resumable
    client.splice.work()
    assert client.transport.body().endswith(events[1])


def test_one_error_ends_what_cannot_go_on() -> None:
    client = Client("/v1/completions", "text")
    answer, events = client.attempt(1)
    answer.take(events[0])
    answer.cut("reset")
    client.splice.break_off(NodeFailed("gone"))
    assert client.splice.over
    assert client.transport.body().startswith(events[0] + b'data: {"error":')
    assert client.transport.body().endswith(DONE)


@pytest.mark.parametrize(("head", "resumable"), [(REFUSED, False), (FULL, True)])
def test_an_error_in_answer_to_the_rest_is_not_for_the_client(head: ResponseHead, resumable: bool) -> None:
    client = Client("/v1/completions", "text")
    answer, events = client.attempt(1)
    answer.take(events[0])
    answer.cut("reset")
    before = client.transport.data
    client.splice.work()
    refused = client.splice.answer(head, client.told)
    assert isinstance(refused, RefusedRest)
    refused.take(b"sorry")
    outcome = refused.end()
    assert (outcome.resumable, outcome.delivered, outcome.new_tokens) == (resumable, True, 0)
    assert client.transport.data == before


def test_at_its_limit_there_is_no_rest_to_ask_for() -> None:
    client = Client("/v1/completions", "text", max_tokens=2)
    answer, events = client.attempt(1)
    answer.take(events[0])
    assert client.splice.goes_on
    assert answer.cut("reset").resumable
    client = Client("/v1/completions", "text", max_tokens=1)
    answer, events = client.attempt(1)
    answer.take(events[0])
    assert not client.splice.goes_on
    assert not answer.cut("reset").resumable
