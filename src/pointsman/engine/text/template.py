"""The chat template: messages to the bytes of a prompt.

Each message is its role's special token, its content and an end token; the answer is asked for by the assistant's
token. A final assistant message to be continued stands without its end token, so continuing it is the same prompt as
the one whose answer was cut.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from xxhash import xxh3_128_digest

from pointsman.engine.text.tokens import ASSISTANT, END, MEDIA, SYSTEM, TOOL, USER

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": ASSISTANT, "tool": TOOL, "function": TOOL}
MEDIA_TOKENS = 64  # an image or audio part costs this many tokens, whatever its size


class Message(msgspec.Struct):
    """One chat message as it comes in."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] | None = None
    reasoning_content: str | None = None


def render(
    messages: Sequence[Message],
    tools: list[dict[str, Any]] | None = None,
    *,
    add_generation_prompt: bool = True,
    continue_final_message: bool = False,
) -> bytes:
    """The prompt for a chat. Raises ValueError for an unknown role, content or an impossible continuation."""
    if not messages:
        raise ValueError("messages must not be empty")
    if continue_final_message and add_generation_prompt:
        raise ValueError("Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
    out = bytearray()
    if tools:
        out.append(SYSTEM)
        out += msgspec.json.encode(tools)
        out.append(END)
    for message in messages:
        _render_message(message, out)
        out.append(END)
    if continue_final_message:
        out.pop()
    elif add_generation_prompt:
        out.append(ASSISTANT)
    return bytes(out)


def _render_message(message: Message, out: bytearray) -> None:
    role = _ROLES.get(message.role)
    if role is None:
        raise ValueError(f"unknown role {message.role!r}")
    out.append(role)
    if isinstance(message.content, str):
        out += message.content.encode()
    else:
        for part in message.content or ():
            out += _render_part(part)
    if message.tool_calls:
        out.append(TOOL)
        out += msgspec.json.encode(message.tool_calls)


def _render_part(part: dict[str, Any]) -> bytes:
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text", "refusal", "thinking"):
        text = part.get("text") or part.get(kind) or ""
        if not isinstance(text, str):
            raise ValueError(f"the {kind!r} part of a message must hold a string")
        return text.encode()
    if kind in ("image_url", "input_image", "input_audio", "audio_url", "video_url", "file"):
        return _media(part.get(kind, part))
    raise ValueError(f"unknown content part type {kind!r}")


def _media(value: Any) -> bytes:
    """A digest of the media, as eight-byte foreign ids, filled up to the fixed charge."""
    digest = xxh3_128_digest(msgspec.json.encode(value))
    identity = b"\xff\x7f" + digest[:7]
    return identity + bytes((MEDIA,)) * (MEDIA_TOKENS - 1)
