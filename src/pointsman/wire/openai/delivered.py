"""What a client has of a streamed answer, and events of another engine made to follow on it.

What was delivered is kept as it goes into the body of a continuation: the text as the inside of a JSON string, escapes
and all, or the token ids. Events are read as raw members, so what is not understood stays as it is.
"""

import re
from array import array
from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.wire.decoding import decoder
from pointsman.wire.openai.chunk import says
from pointsman.wire.openai.shapes import ABSENT, Delta
from pointsman.wire.sse import data_event, event_data

_IDS = re.compile(rb',\s*"(?:prompt_)?token_ids"\s*:\s*(?:null|\[[^\]]*\])')
"""A member of that name: inside a text its quotes would be escaped."""
_TokenId = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _Delta(Delta, gc=False):
    def is_more_than_text(self) -> bool:
        others = (self.reasoning_content, self.reasoning, self.refusal, self.tool_calls, self.function_call)
        return any(says(other) for other in others)


class _Choice(msgspec.Struct, gc=False):
    text: msgspec.Raw = ABSENT
    delta: _Delta | None = None
    token_ids: list[_TokenId] | None = None
    prompt_token_ids: msgspec.Raw = ABSENT


class _Event(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    prompt_token_ids: msgspec.Raw = ABSENT


_decode = decoder(_Event)
_decode_members = decoder(dict[str, msgspec.Raw])
_decode_choices = decoder(list[dict[str, msgspec.Raw]])
_encode = msgspec.json.encode


class Delivered:
    """The account of one answer over all its tries. `tokens` counts ids, or, where none are told, events with text.

    `plain` as long as there was nothing but text. Ids of a token that brought no text wait for the next that does: they
    may be the half of a character.
    """

    __slots__ = ("_silent", "ids", "plain", "prompt_ids", "text", "tokens")

    def __init__(self) -> None:
        self.text = bytearray()
        self.ids = array("q")
        self.prompt_ids = b""
        self.tokens = 0
        self.plain = True
        self._silent: list[int] = []

    def see(self, event: bytes, *, by_tokens: bool) -> None:
        """An event is about to be delivered."""
        data = event_data(event)
        if not data or data == b"[DONE]":
            return
        try:
            told = _decode(data)
        except msgspec.DecodeError:  # half a character pair, say, or an id that cannot be
            self.plain = False
            return
        self._see_prompt(told.prompt_token_ids)
        for choice in told.choices:
            self._see_prompt(choice.prompt_token_ids)
            self._see_choice(choice, by_tokens)

    def _see_prompt(self, ids: msgspec.Raw) -> None:
        if not self.prompt_ids and says(ids):
            self.prompt_ids = bytes(ids)

    def _see_choice(self, choice: _Choice, by_tokens: bool) -> None:
        delta = choice.delta
        content = choice.text if delta is None else delta.content
        if delta is not None and delta.is_more_than_text():
            self.plain = False
        text, spoke = bytes(content), says(content)
        if spoke and not text.startswith(b'"'):
            self.plain = False  # parts, or a number: what a continuation would begin with is not known
        elif by_tokens:
            self._see_ids(choice.token_ids or [], spoke)
        elif spoke:
            self.text += text[1:-1]
            self.tokens += 1

    def _see_ids(self, ids: list[int], spoke: bool) -> None:
        self._silent += ids
        if not ids and spoke:
            self.plain = False  # a text without its tokens: what there is of it cannot be named
        if spoke:
            self.ids.extend(self._silent)
            self._silent.clear()
            self.tokens = len(self.ids)


class Identity:
    """What all events of one stream have in common, learned from its first one and given to those of other streams."""

    __slots__ = ("_is_chat", "_members")

    def __init__(self, *, is_chat: bool) -> None:
        self._is_chat = is_chat
        self._members: dict[str, msgspec.Raw] = {}

    def learn(self, event: bytes) -> None:
        """Take the identity of a stream's event, unless one was taken already."""
        if not self._members:
            members = _members(event_data(event))
            self._members = {name: members[name] for name in ("id", "object", "created", "model") if name in members}

    def put_on(self, event: bytes, tokens: int) -> bytes:
        """`event` of a continuation as one of the stream that was begun, `tokens` in; empty if it says nothing new."""
        members = _members(event_data(event))
        if not members or says(members.get("error", ABSENT)):
            return event
        choices = [self._dressed(choice) for choice in _choices(members)]
        has_usage = says(members.get("usage", ABSENT))
        if not has_usage and not any(_says_something(choice) for choice in choices):
            return b""
        members = {name: value for name, value in members.items() if name != "prompt_token_ids"} | self._members
        members["choices"] = msgspec.Raw(_encode(choices))
        if has_usage:
            members["usage"] = msgspec.Raw(_shifted(bytes(members["usage"]), tokens))
        return data_event(_encode(members))

    def _dressed(self, choice: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
        """A choice without a role of its own, and in a chat's shape where it came as a completion's."""
        dressed = {}
        for name, value in choice.items():
            if name == "text" and self._is_chat:
                dressed["delta"] = msgspec.Raw(b'{"content":%b}' % bytes(value))
            elif name == "delta":
                delta = _members(bytes(value))
                delta.pop("role", None)
                dressed["delta"] = msgspec.Raw(_encode(delta))
            elif name != "prompt_token_ids":
                dressed[name] = value
        return dressed


def without_ids(event: bytes) -> bytes:
    """`event` as it were if nobody had asked for token ids."""
    return _IDS.sub(b"", event)


def _members(data: bytes) -> dict[str, msgspec.Raw]:
    """The members of `data`; none for what is no object."""
    try:
        return _decode_members(data)
    except msgspec.DecodeError:
        return {}


def _choices(members: dict[str, msgspec.Raw]) -> list[dict[str, msgspec.Raw]]:
    """The choices of an event; none where they are no list of objects."""
    try:
        return _decode_choices(bytes(members.get("choices", b"[]")))
    except msgspec.DecodeError:
        return []


def _says_something(choice: dict[str, msgspec.Raw]) -> bool:
    if says(choice.get("finish_reason", ABSENT)) or says(choice.get("text", ABSENT)):
        return True
    delta = bytes(choice.get("delta", b"{}"))
    return any(says(value) for value in _members(delta).values())


def _shifted(usage: bytes, tokens: int) -> bytes:
    """A continuation's usage as that of the whole answer: `tokens` of its prompt were the answer's beginning."""
    counts = _members(usage)
    if not counts:
        return usage
    for name, change in (("prompt_tokens", -tokens), ("completion_tokens", tokens)):
        told = bytes(counts.get(name, b""))
        if told.isdigit():
            counts[name] = msgspec.Raw(b"%d" % max(0, int(told) + change))
    details = _members(bytes(counts.get("prompt_tokens_details", b"")))
    cached, prompt = bytes(details.get("cached_tokens", b"")), bytes(counts.get("prompt_tokens", b""))
    if cached.isdigit() and prompt.isdigit() and int(cached) > int(prompt):  # some of the answer's beginning was cached
        counts["prompt_tokens_details"] = msgspec.Raw(_encode({**details, "cached_tokens": msgspec.Raw(prompt)}))
    return _encode(counts)
