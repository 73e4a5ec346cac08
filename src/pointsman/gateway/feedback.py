"""`POST /feedback`: a client says whether an answer was any good."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.reports import ClientReport

PATH = b"/feedback"


class _Feedback(msgspec.Struct):
    request_id: Annotated[str, Meta(min_length=1, max_length=128)]
    good: bool
    reason: Annotated[str, Meta(max_length=1000)] = ""


_decode = msgspec.json.Decoder(_Feedback).decode


def read_feedback(body: bytes, tenant: str) -> ClientReport:
    """The body as a report of `tenant`. Raises BadRequest."""
    try:
        given = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"feedback is {{request_id, good, reason}}: {error}", param=_param(str(error))) from None
    return ClientReport(request=given.request_id, tenant=tenant, good=given.good, reason=given.reason)


def answer_to(report: ClientReport) -> bytes:
    """The JSON that says it was taken."""
    return msgspec.json.encode({"object": "feedback", "request_id": report.request, "good": report.good})


def _param(message: str) -> str | None:
    """The field that msgspec's message is about."""
    return next(
        (field for field in _Feedback.__struct_fields__ if f"`{field}`" in message or f"$.{field}" in message), None
    )
