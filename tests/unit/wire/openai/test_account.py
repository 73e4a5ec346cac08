"""What recorded streams say about themselves."""

from pathlib import Path

import pytest

from pointsman.wire.http1.framing import chunk as framed
from pointsman.wire.openai.account import ChatAccount, TypedAccount
from pointsman.wire.openai.shapes import Usage
from pointsman.wire.sse import EventCutter, data_event

VLLM = Path(__file__).parents[3] / "fixtures" / "vllm"


def events_of(name: str) -> list[bytes]:
    rest = (VLLM / f"{name}.http").read_bytes().partition(b"\r\n\r\n")[2]
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return EventCutter().feed(body)


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("chat_stream", 1),
        ("chat_stream_usage", 1),
        ("chat_stream_n2", 2),
        ("chat_stream_logprobs", 1),
        ("chat_stream_token_ids", 1),
        ("chat_stream_continuous_usage", 1),
        ("completion_stream_usage", 1),
        ("completion_stream_n2", 2),
    ],
)
def test_recorded_chat_streams(name: str, choices: int) -> None:
    events = events_of(name)
    account = ChatAccount(choices)
    stripped = [account.see(event) for event in events]
    assert account.succeeded()
    assert account.done
    assert account.content_events > 0
    usage_only = [event for event in events if b'"choices":[]' in event]
    assert sum(stripped) == len(usage_only)
    if usage_only:
        assert account.usage.prompt > 0
        assert account.usage.completion > 0
    cut = ChatAccount(choices)
    for event in events:
        if b'"finish_reason":"' in event:
            break
        cut.see(event)
    assert not cut.succeeded()


def looked_at(account: ChatAccount | TypedAccount, events: list[bytes]) -> list[bytes]:
    """The events that were not ordinary, which were seen, as against the others, which were counted."""
    closely = []
    likeness = account.likeness
    for event in events:
        if account.content_events and likeness.passes(framed(event)):
            account.content_events += 1
        else:
            account.see(event)
            closely.append(event)
    return closely


@pytest.mark.parametrize("name", sorted(path.stem for path in VLLM.glob("*_stream*.http") if "error" not in path.stem))
def test_to_count_what_is_ordinary_changes_no_account(name: str) -> None:
    kind = TypedAccount if name in ("messages_stream", "responses_stream") else ChatAccount
    events = events_of(name)
    closely, quickly = kind(), kind()
    for event in events:
        closely.see(event)
    looked_at(quickly, events)
    for account in (closely, quickly):
        assert account.content_events > 0
    assert [quickly.content_events, quickly.done, quickly.error, quickly.usage, quickly.succeeded()] == [
        closely.content_events,
        closely.done,
        closely.error,
        closely.usage,
        closely.succeeded(),
    ]


@pytest.mark.parametrize(
    "name", ["chat_stream_usage_turn_2", "completion_stream_usage", "messages_stream", "responses_stream"]
)
def test_streams_have_ordinary_events(name: str) -> None:
    kind = TypedAccount if name in ("messages_stream", "responses_stream") else ChatAccount
    events = events_of(name)
    assert len(looked_at(kind(), events)) < len(events)


@pytest.mark.parametrize("name", ["messages_stream", "responses_stream"])
def test_recorded_typed_streams(name: str) -> None:
    account = TypedAccount()
    events = events_of(name)
    for event in events:
        account.see(event)
    assert account.succeeded()
    assert account.content_events > 0
    assert account.usage.prompt > 0
    assert account.usage.completion > 0
    cut = TypedAccount()
    for event in events[:-2]:
        cut.see(event)
    assert not cut.succeeded()


def chunk(text: str) -> bytes:
    return data_event(text.encode())


ROLE = chunk('{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}')
TEXT = chunk('{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}')


def test_a_role_is_no_content() -> None:
    account = ChatAccount()
    account.see(ROLE)
    assert account.content_events == 0
    account.see(TEXT)
    account.see(TEXT)
    assert account.content_events == 2


@pytest.mark.parametrize(
    "delta",
    ['"tool_calls":[{"index":0}]', '"reasoning_content":"hm"', '"reasoning":"hm"', '"refusal":"no"'],
)
def test_other_content(delta: str) -> None:
    account = ChatAccount()
    account.see(chunk(f'{{"choices":[{{"index":0,"delta":{{"content":null,{delta}}},"finish_reason":null}}]}}'))
    assert account.content_events == 1


def test_text_that_talks_about_usage_is_text() -> None:
    account = ChatAccount()
    account.see(TEXT)
    for _ in range(2):
        account.see(
            chunk('{"choices":[{"index":0,"delta":{"content":"\\"usage\\":{} \\"error\\":1"},"finish_reason":null}]}')
        )
    assert account.content_events == 3
    assert not account.error


def test_spaced_json_is_read_too() -> None:
    account = ChatAccount()
    account.see(chunk('{"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": null}]}'))
    account.see(chunk('{"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}'))
    assert account.content_events == 2
    assert account.succeeded()


def test_an_error_is_no_success() -> None:
    account = ChatAccount()
    account.see(chunk('{"error":{"message":"x"}}'))
    account.see(chunk("[DONE]"))
    assert account.error
    assert not account.succeeded()


@pytest.mark.parametrize("kind", [ChatAccount, TypedAccount])
def test_an_error_in_an_older_shape(kind: type[ChatAccount | TypedAccount]) -> None:
    account = kind()
    account.see(chunk('{"object":"error","message":"out of memory","code":500}'))
    assert account.error
    assert not account.succeeded()


def test_half_a_character_hides_no_end() -> None:
    account = ChatAccount()
    account.see(chunk(r'{"choices":[{"index":0,"text":"\ud83d","finish_reason":"stop"}]}'))
    assert account.content_events == 1
    assert account.succeeded()


def test_garbage_and_comments_count_nothing() -> None:
    account = ChatAccount()
    for event in (b": ping\n\n", chunk("not json"), chunk('{"choices":7}')):
        account.see(event)
    assert account.content_events == 0
    assert not account.succeeded()


def test_last_words() -> None:
    error = b'{"error":{"message":"cut"}}'
    assert ChatAccount().last_words(error) == b'data: {"error":{"message":"cut"}}\n\ndata: [DONE]\n\n'
    typed = b'event: error\ndata: {"type":"error","error":{"message":"cut"}}\n\ndata: [DONE]\n\n'
    assert TypedAccount().last_words(error) == typed
    account = TypedAccount()
    for event in EventCutter().feed(typed):
        account.see(event)
    assert account.error
    assert not account.succeeded()


def test_a_choice_that_ends_beside_one_that_goes_on() -> None:
    account = ChatAccount(2)
    account.see(chunk('{"choices":[{"index":0,"text":"a","finish_reason":null}]}'))
    account.see(
        chunk('{"choices":[{"index":0,"text":"a","finish_reason":null},{"index":1,"text":"b","finish_reason":"stop"}]}')
    )
    account.see(chunk('{"choices":[{"index":0,"text":"a","finish_reason":"stop"}]}'))
    assert account.succeeded()


@pytest.mark.parametrize("tokens", ["-1", "1000000001", "1000000000000000000", "99999999999999999999999"])
def test_counts_that_cannot_be_are_not_told(tokens: str) -> None:
    wrong = f'"prompt_tokens":{tokens},"prompt_tokens_details":{{"cached_tokens":{tokens}}}'
    account = ChatAccount()
    account.see(chunk(f'{{"choices":[],"usage":{{{wrong},"completion_tokens":{tokens}}}}}'))
    assert account.usage == Usage()
    typed = TypedAccount()
    typed.see(chunk(f'{{"type":"response.completed","response":{{"usage":{{"input_tokens":{tokens}}}}}}}'))
    assert typed.usage == Usage()
