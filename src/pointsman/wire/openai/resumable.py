"""Which requests can be continued on another engine, and the body that asks for the rest of an answer.

By text, the continuation is the client's own request with what was delivered behind the prompt, or as the assistant's
message that is to be continued. By tokens it is a text completion of the ids of prompt and answer, for a chat as well:
no template is involved, and no tokenizer cuts the text anew. What was delivered is subtracted from the limits.
"""

import re
from typing import Literal

import msgspec

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.decoding import decoder
from pointsman.wire.openai.delivered import Delivered
from pointsman.wire.openai.members import members, without

Mode = Literal["off", "text", "tokens"]

_NOTHING = frozenset((b"null", b"false", b"0", b"0.0", b"[]", b"{}", b'""'))
_ALONE = frozenset((b"null", b"1"))
_SEVERAL = frozenset(("n", "best_of"))
_FOREIGN = frozenset(
    (
        *("logprobs", "top_logprobs", "prompt_logprobs", "echo", "suffix", "use_beam_search"),
        *("tools", "functions", "response_format", "structured_outputs"),
        *("guided_json", "guided_regex", "guided_choice", "guided_grammar", "json_schema", "regex", "ebnf"),
        *("frequency_penalty", "presence_penalty"),
        "continue_final_message",
    )
)
"""Members with which an answer is more than its text, or depends on where it began."""
_LIMITS = frozenset(("max_tokens", "max_completion_tokens", "min_tokens"))
_CHAT_ALONE = frozenset(
    (
        *("messages", "continue_final_message", "add_generation_prompt", "chat_template", "chat_template_kwargs"),
        *("tools", "tool_choice", "logprobs", "top_logprobs", "echo"),
    )
)
"""Members of a chat that a completion does not know, or knows as something else."""
_PART = re.compile(rb'"type"\s*:\s*"([^"]*)"')

_decode_ids = decoder(list[int])


class _Stop(msgspec.Struct):
    stop: str | list[str] | None = None


_decode_stop = decoder(_Stop)


class Asked(msgspec.Struct, frozen=True):
    """A request that can be continued: its members, by what, and whether the client wants token ids for itself."""

    body: bytes
    members: dict[str, msgspec.Raw]
    by_tokens: bool
    is_chat: bool
    shows_ids: bool

    @property
    def limit(self) -> int | None:
        """The most tokens the answer may have; None where only the engine knows."""
        return _limit(self.members, "max_completion_tokens") or _limit(self.members, "max_tokens")


def asked(data: bytes, mode: Mode, *, is_chat: bool) -> Asked | None:
    """The request in `data`, valid JSON, if an answer to it can be continued in this mode; None if it cannot."""
    given = _members(data) if mode != "off" else {}
    if not given:
        return None
    by_tokens = mode == "tokens"
    if any(_given(given, name, _NOTHING) for name in _FOREIGN):
        return None
    if any(_given(given, name, _ALONE) for name in _SEVERAL) or _may_hold_back(data):
        return None
    if not (_chat_is_plain(given, by_tokens) if is_chat else _completion_is_plain(given, by_tokens)):
        return None
    return Asked(data, given, by_tokens, is_chat, _given(given, "return_token_ids", _NOTHING))


def with_ids(request: Asked) -> bytes:
    """The body that asks for token ids as well."""
    return _edited(request.body, {"return_token_ids": b"true"})


def continuation(request: Asked, delivered: Delivered) -> bytes:
    """The body that asks for what follows on `delivered`, which leaves something to ask for (`leaves_any`)."""
    if not delivered.tokens:
        return with_ids(request) if request.by_tokens else request.body
    edits = _limits_left(request, delivered.tokens)
    if request.by_tokens:
        ids = delivered.prompt_ids[:-1] + b"," + b",".join(b"%d" % token for token in delivered.ids) + b"]"
        return _edited(request.body, edits | {"prompt": ids, "return_token_ids": b"true"}, _dropped(request))
    if request.is_chat:
        message = b'{"role":"assistant","content":"%b"}' % bytes(delivered.text)
        messages = bytes(request.members["messages"])[:-1] + b"," + message + b"]"
        edits |= {"messages": messages, "continue_final_message": b"true", "add_generation_prompt": b"false"}
        return _edited(request.body, edits)
    prompt = bytes(request.members["prompt"])[:-1] + delivered.text + b'"'
    return _edited(request.body, edits | {"prompt": prompt})


def leaves_any(request: Asked, tokens: int) -> bool:
    """Whether there may be anything behind so many tokens."""
    limit = request.limit
    return limit is None or tokens < limit


def _members(data: bytes) -> dict[str, msgspec.Raw]:
    """The members by name, views of `data`; none where they could not be edited."""
    view = memoryview(data)
    try:
        return {member.name: msgspec.Raw(view[member.value : member.end]) for member in members(data)}
    except BadRequest:
        return {}


def _dropped(request: Asked) -> frozenset[str]:
    return _CHAT_ALONE | _LIMITS if request.is_chat else frozenset()


def _limits_left(request: Asked, tokens: int) -> dict[str, bytes]:
    """Limits less `tokens`. A completion of a chat says even that it has none: its default would be a small one."""
    limits = {name: _limit(request.members, name) for name in sorted(_LIMITS)}
    left = {name: b"%d" % max(0, limit - tokens) for name, limit in limits.items() if limit is not None}
    if request.is_chat and request.by_tokens:
        most = request.limit
        left.pop("max_completion_tokens", None)
        left["max_tokens"] = b"null" if most is None else b"%d" % (most - tokens)
    return left


def _chat_is_plain(members: dict[str, msgspec.Raw], by_tokens: bool) -> bool:
    """Messages there are; by tokens, nothing in them but text: an image has no ids that another engine could read."""
    messages = bytes(members.get("messages", b""))
    if not messages.startswith(b"[") or messages == b"[]":
        return False
    return not by_tokens or all(kind == b"text" for kind in _PART.findall(messages))


def _completion_is_plain(members: dict[str, msgspec.Raw], by_tokens: bool) -> bool:
    """One prompt, and a limit: engines differ in what they take for one where there is none."""
    if _limit(members, "max_tokens") is None:
        return False
    prompt = bytes(members.get("prompt", b""))
    return prompt.startswith(b'"') or (by_tokens and _is_ids(prompt))


def _is_ids(prompt: bytes) -> bool:
    try:
        return bool(_decode_ids(prompt))
    except msgspec.DecodeError:
        return False


def _may_hold_back(data: bytes) -> bool:
    """Whether a stop string is longer than a character: engines then hold text back, and cut it inside of tokens."""
    try:
        stop = _decode_stop(data).stop
    except msgspec.DecodeError:
        return True
    return any(len(each) > 1 for each in ([stop] if isinstance(stop, str) else stop or ()))


def _given(members: dict[str, msgspec.Raw], name: str, nothing: frozenset[bytes]) -> bool:
    return name in members and bytes(members[name]) not in nothing


def _limit(members: dict[str, msgspec.Raw], name: str) -> int | None:
    told = bytes(members.get(name, b""))
    return int(told) if told.isdigit() else None


def _edited(data: bytes, values: dict[str, bytes], dropped: frozenset[str] = frozenset()) -> bytes:
    """`data` with these members, in front, and without the `dropped` ones."""
    rest = without(data, dropped | values.keys())[1:]
    front = b",".join(b'"%b":%b' % (name.encode(), value) for name, value in values.items())
    return b"{%b%b%b" % (front, b"" if rest == b"}" else b",", rest)
