"""Errors in the shape OpenAI's clients expect, and those of nodes that come with a 200."""

from typing import Any, Final

import msgspec

from pointsman.brain.model.errors import PointsmanError
from pointsman.wire.decoding import decoder
from pointsman.wire.openai.shapes import ErrorAnswer, ErrorDetails

_ERROR_WITHIN: Final = 64
"""Bytes of a JSON answer in which its error member, if it is one, begins."""


def error_body(error: PointsmanError) -> bytes:
    """`{"error": {"message", "type", "param", "code"}}`."""
    return msgspec.json.encode({"error": _fields(error)})


def _fields(error: PointsmanError) -> dict[str, Any]:
    return {"message": error.message, "type": error.kind, "param": error.param, "code": error.code}


_decode = decoder(ErrorAnswer)


def error_status(payload: bytes) -> int:
    """The HTTP status that a node's error in a 200 names, else 500."""
    try:
        told = _decode(payload)
    except msgspec.DecodeError:
        return 500
    code = told.error.code if isinstance(told.error, ErrorDetails) else told.code
    return code if isinstance(code, int) and 400 <= code <= 599 else 500


def is_error(body: bytes) -> bool:
    """Whether a JSON answer is an error, whatever status came with it."""
    if b'"error"' not in body[:_ERROR_WITHIN]:
        return False
    try:
        told = _decode(body)
    except msgspec.DecodeError:
        return False
    return bool(told.error) or told.object == "error"
