"""A request for the beginning of another's prompt and one token of answer: what leaves that beginning in a cache.

The beginning is given in bytes of the canonical prompt (`prompt.py`), or in token ids where the prompt is those. It
mostly ends inside a message, whose text is cut there. Chat templates want a user to have the last word, so one that has
none gets one; what an engine caches is in whole blocks, and loses the last few tokens anyway.
"""

import re

import msgspec

from pointsman.wire.decoding import decoder
from pointsman.wire.openai.body import present, read_body
from pointsman.wire.openai.members import members, without
from pointsman.wire.openai.prompt import preamble

_ASIDE = frozenset(
    (
        *("stream", "stream_options", "n", "best_of", "use_beam_search", "logprobs", "top_logprobs", "prompt_logprobs"),
        *("max_tokens", "max_completion_tokens", "min_tokens", "return_token_ids", "priority"),
    )
)
"""Members that speak of the answer, or of when it is to come."""
_LAST_WORD = b'{"role":"user","content":"."}'
_OPEN_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")
_OPEN_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}$")

_decode_list = decoder(list[msgspec.Raw])
_decode_ids = decoder(list[int])


class _Role(msgspec.Struct):
    role: str = ""


_decode_role = decoder(_Role)


def leading(data: bytes, amount: int) -> bytes | None:
    """The body that asks for the first `amount` bytes (or ids) of the prompt in `data`, which has been read before.

    None where nothing of it would be left, or it is of a kind that cannot be cut.
    """
    body = read_body(data)
    messages, prompt = present(body.messages), present(body.prompt)
    if messages:
        name, cut = "messages", _first_messages(messages, amount - len(preamble(body)))
    elif prompt.startswith(b'"'):
        name, cut = "prompt", _quoted(prompt, amount)
    else:
        name, cut = "prompt", _first_ids(prompt, amount)
    if not cut:
        return None
    rest = without(data, _ASIDE | {name})[1:]
    return b'{"%b":%b,"max_tokens":1%b%b' % (name.encode(), cut, b"" if rest == b"}" else b",", rest)


def _first_messages(messages: bytes, amount: int) -> bytes:
    """The list's messages as far as `amount` bytes of it go; empty for none."""
    kept: list[bytes] = []
    at = 0
    for message in _listed(messages):
        start = messages.index(message, at)
        at = start + len(message)
        if at <= amount:
            kept.append(message)
            continue
        cut = _first_text(message, amount - start)
        kept += [cut] if cut else []
        break
    if not kept:
        return b""
    if not _is_users(kept[-1]):
        kept.append(_LAST_WORD)
    return b"[%b]" % b",".join(kept)


def _listed(messages: bytes) -> list[bytes]:
    """The messages, each an object; none where anything else is among them."""
    try:
        listed = [bytes(message) for message in _decode_list(messages)]
    except msgspec.DecodeError:
        return []
    return listed if all(message.startswith(b"{") for message in listed) else []


def _is_users(message: bytes) -> bool:
    try:
        return _decode_role(message).role == "user"
    except msgspec.DecodeError:
        return False


def _first_text(message: bytes, amount: int) -> bytes:
    """The message with its text cut where `amount` bytes of the whole end; empty where that is before its text."""
    for member in members(message):
        if member.name == "content" and message[member.value : member.value + 1] == b'"':
            text = _quoted(message[member.value : member.end], amount - member.value)
            return b"%b%b%b" % (message[: member.value], text, message[member.end :]) if text else b""
    return b""


def _quoted(text: bytes, amount: int) -> bytes:
    """The first `amount` bytes of a JSON string, less what would be half a character, closed; empty for no text."""
    cut = text[: min(amount, len(text) - 1)].decode(errors="ignore").encode() if amount > 0 else b""
    half = _OPEN_ESCAPE.search(cut)
    if half is not None:
        cut = cut[: half.start(1)]
    cut = _OPEN_PAIR.sub(b"", cut)
    return cut + b'"' if len(cut) > 1 else b""


def _first_ids(prompt: bytes, amount: int) -> bytes:
    try:
        return msgspec.json.encode(_decode_ids(prompt)[:amount]) if amount > 0 else b""
    except msgspec.DecodeError:
        return b""
