"""The declared edits of a body. Everything else reaches the node as the client wrote it.

1. A stream whose usage the client did not ask for is made to end with it (and the extra chunk is taken out again).
2. Members that steer an engine's inner workings are removed: clients do not set them through a gateway.
3. Where clients have keys, a `cache_salt` is replaced by one that no other tenant can produce: who guesses another's
   salt could else find out by timing what that one has asked.
"""

import hashlib

import msgspec

from pointsman.wire.decoding import decoder
from pointsman.wire.openai.body import CONTROL_MEMBERS, present, steers
from pointsman.wire.openai.members import value_of, with_member, without
from pointsman.wire.openai.shapes import Body, StreamOptions

_ASK = b'"stream_options":{"include_usage":true}'
_decode = decoder(StreamOptions)


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
    return without(data, CONTROL_MEMBERS) if steers(body) else data


def tenant_salt(body: Body, tenant: str) -> bytes:
    """The salt (JSON) that separates this request's cache: the client's own, made the tenant's where there are any."""
    if not body.cache_salt:
        return b""
    salt = present(body.cache_salt)
    if not tenant or not salt.startswith(b'"') or salt == b'""':
        return salt
    return b'"%b"' % hashlib.sha256(tenant.encode() + b"\0" + salt).hexdigest().encode()


def with_salt(data: bytes, body: Body, salt: bytes) -> bytes:
    """`data` with `salt` for its own; the same object where that is no change."""
    return data if salt == present(body.cache_salt) else with_member(data, "cache_salt", salt)
