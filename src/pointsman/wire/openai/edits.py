"""The declared edits of a body. Everything else reaches the node as the client wrote it.

1. A stream whose usage the client did not ask for is made to end with it (and the extra chunk is taken out again).
2. Members that steer an engine's inner workings are removed: clients do not set them through a gateway.
"""

import msgspec

from pointsman.wire.decoding import decoder
from pointsman.wire.openai.body import Body, present
from pointsman.wire.openai.members import value_of, with_member, without

CONTROL_MEMBERS = frozenset(("kv_transfer_params", "vllm_xargs", "priority"))
_ASK = b'"stream_options":{"include_usage":true}'


class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


_decode = decoder(_StreamOptions)


def asks_for_usage(body: Body) -> bool:
    """Whether the client wants the usage chunk at the end of its stream."""
    options = present(body.stream_options)
    if not options:
        return False
    try:
        return bool(_decode(options).include_usage)
    except msgspec.DecodeError:
        return True  # malformed: the engine shall say so


def with_usage(data: bytes, body: Body) -> bytes:
    """`data` asking for usage, by a splice behind the opening brace where it has no `stream_options`."""
    if not bytes(body.stream_options):
        start = data.index(b"{") + 1
        return b"%b%b,%b" % (data[:start], _ASK, data[start:])
    options = value_of(data, "stream_options")
    asking = with_member(b"{}" if options == b"null" else options, "include_usage", b"true")
    return with_member(data, "stream_options", asking)


def without_control(data: bytes, body: Body) -> bytes:
    """`data` without control members; unchanged when it has none."""
    if bytes(body.kv_transfer_params) or bytes(body.vllm_xargs) or bytes(body.priority):
        return without(data, CONTROL_MEMBERS)
    return data
