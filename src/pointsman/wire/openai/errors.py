"""Errors in the shape OpenAI's clients expect."""

from typing import Any

import msgspec

from pointsman.brain.model.errors import PointsmanError


def error_body(error: PointsmanError) -> bytes:
    """`{"error": {"message", "type", "param", "code"}}`."""
    return msgspec.json.encode({"error": _fields(error)})


def _fields(error: PointsmanError) -> dict[str, Any]:
    return {"message": error.message, "type": error.kind, "param": error.param, "code": error.code}
