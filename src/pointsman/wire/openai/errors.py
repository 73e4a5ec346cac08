"""Errors in the shape OpenAI's clients expect, and those of nodes that come with a 200."""

from typing import Any

import msgspec

from pointsman.brain.model.errors import PointsmanError
from pointsman.wire.decoding import decoder

_ERROR_WITHIN = 64
"""Bytes of a JSON answer in which its error member, if it is one, begins."""


def error_body(error: PointsmanError) -> bytes:
    """`{"error": {"message", "type", "param", "code"}}`."""
    return msgspec.json.encode({"error": _fields(error)})


def _fields(error: PointsmanError) -> dict[str, Any]:
    return {"message": error.message, "type": error.kind, "param": error.param, "code": error.code}


class _ErrorCode(msgspec.Struct):
    code: int | str | None = None


class _ErrorBody(msgspec.Struct):
    object: str = ""
    error: _ErrorCode | str | None = None
    code: int | str | None = None


_decode = decoder(_ErrorBody)


def error_status(payload: bytes) -> int:
    """The HTTP status that a node's error in a 200 names, else 500."""
    try:
        told = _decode(payload)
    except msgspec.DecodeError:
        return 500
    code = told.error.code if isinstance(told.error, _ErrorCode) else told.code
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
