"""What a response says about itself: its usage, its ends, its errors. Read on a copy, as little as possible.

Of a stream, the events up to the first content are decoded; after that one is decoded only when its bytes show a
member that matters (`ordinary.py`).
"""

from collections.abc import Callable
from typing import Final

from pointsman.wire.openai.chunk import read_chunk, says, says_something, tells_error, usage_from
from pointsman.wire.openai.likeness import Likeness
from pointsman.wire.openai.ordinary import is_choice_text, is_typed_text, says_text_alone
from pointsman.wire.openai.shapes import Answer, Choice, Chunk, Usage
from pointsman.wire.sse import data_event, event_data

DONE_EVENT: Final = data_event(b"[DONE]")
_FINAL: Final = frozenset(("message_stop", "response.completed", "response.incomplete"))
_FAILED: Final = frozenset(("error", "response.failed"))


class StreamAccount:
    """Sees every event of one stream. `content_events` counts those that carried something generated.

    `likeness` tells chunks of one event each that, after the first content, are one more of it and nothing else: what
    `look` says of them, who has nothing but the bytes of the chunk.
    """

    __slots__ = ("content_events", "done", "error", "likeness", "usage")

    def __init__(self, look: Callable[[bytes], bool]) -> None:
        self.likeness = Likeness(look)
        self.content_events = 0
        self.done = False
        self.error = b""
        self.usage = Usage()

    def see(self, event: bytes) -> bool:
        """Take one raw event; true when it is nothing but the usage of the whole stream."""
        raise NotImplementedError

    def succeeded(self) -> bool:
        """Whether the stream said that it is complete."""
        raise NotImplementedError

    def last_words(self, error: bytes) -> bytes:
        """The events that end a stream of this kind by our own `error` (JSON, `{"error": {...}}`)."""
        raise NotImplementedError


class ChatAccount(StreamAccount):
    """Streams of chat and text completions: `[DONE]`, or a finish_reason for each of `choices` indexes, ends them."""

    __slots__ = ("_choices", "_finished")

    def __init__(self, choices: int = 1) -> None:
        super().__init__(is_choice_text)
        self._choices = choices
        self._finished: set[int] = set()

    def see(self, event: bytes) -> bool:
        if self.content_events and says_text_alone(event):
            self.content_events += 1
            return False
        return self._see_closely(event, event_data(event))

    def succeeded(self) -> bool:
        return not self.error and (self.done or len(self._finished) >= self._choices)

    def last_words(self, error: bytes) -> bytes:
        return data_event(error) + DONE_EVENT

    def _see_closely(self, event: bytes, data: bytes) -> bool:
        if data == b"[DONE]":
            self.done = True
            return False
        if not data:
            return False
        chunk = read_chunk(data)
        if tells_error(chunk):
            self.error = data
        if chunk.usage is not None:
            self.usage = usage_from(chunk.usage)
        choices: list[Choice] = chunk.choices or []
        content = ends = False
        for choice in choices:
            content = content or says_something(choice)
            if says(choice.finish_reason):
                ends = True
                self._finished.add(choice.index)
        self.content_events += content
        if content and not (ends or self.error or chunk.usage is not None) and event == data_event(data):
            self.likeness.keep(event)
        return chunk.usage is not None and not choices


class TypedAccount(StreamAccount):
    """Streams of typed events (`/v1/responses`, `/v1/messages`): a final type ends them."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(is_typed_text)

    def see(self, event: bytes) -> bool:
        data = event_data(event)
        if data == b"[DONE]":
            self.done = True
            return False
        chunk = read_chunk(data)
        if chunk.type in _FAILED or tells_error(chunk):
            self.error = data
        if "delta" in chunk.type:
            self.content_events += 1
        self.done = self.done or chunk.type in _FINAL
        self._take_usage(chunk)
        return False

    def succeeded(self) -> bool:
        return self.done and not self.error

    def last_words(self, error: bytes) -> bytes:
        """Of the two makes of such streams' clients one goes by the event's name, the other by its `error`."""
        return b"event: error\n" + data_event(b'{"type":"error",' + error[1:]) + DONE_EVENT

    def _take_usage(self, chunk: Chunk) -> None:
        answer = chunk.response or chunk.message
        raw = chunk.usage or (answer.usage if isinstance(answer, Answer) else None)
        if raw is None:
            return
        new = usage_from(raw)
        old = self.usage
        cached = old.cached if new.cached is None else new.cached
        self.usage = Usage(new.prompt or old.prompt, new.completion or old.completion, cached)
