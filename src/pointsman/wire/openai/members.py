"""The members of a JSON object as spans of its bytes, so that one can be cut out or replaced and the rest kept.

msgspec skips the values, whatever their size, and tells how long each is; what lies between them is walked here.
"""

import re

import msgspec

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.decoding import decoder, mended

_KEY = re.compile(rb'[\s,{]*("[^"\\]*(?:\\.[^"\\]*)*")\s*:\s*', re.DOTALL)
_END = re.compile(rb"[\s{]*\}\s*")
MOST_MEMBERS = 10_000
"""An object of an API has a hundred; a million would hold up everybody for seconds."""
_decode = decoder(dict[str, msgspec.Raw])


class Member(msgspec.Struct, frozen=True, gc=False):
    """One member: its unescaped name, and the bytes from its key to the end of its value."""

    name: str
    start: int
    value: int
    end: int


def members(data: bytes) -> list[Member]:
    """The top-level members of `data`, which must be a valid JSON object.

    Raises BadRequest when a name is there twice: which of the two an engine would take is not ours to guess; when one
    is no text, which a decoder that passes over it does not see; and when there are more than MOST_MEMBERS.
    """
    found = []
    at = 0
    values = _values(data)
    if len(values) > MOST_MEMBERS:
        raise BadRequest(f"the request body has more than {MOST_MEMBERS} members")
    for name, value in values.items():
        key = _KEY.match(data, at)
        if key is None:
            break
        at = key.end() + len(bytes(value))
        found.append(Member(name, key.start(1), key.end(), at))
    if not _END.fullmatch(data, at):
        raise BadRequest("a member of the request body is there more than once")
    return found


def _values(data: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return _mended_values(data)


def _mended_values(data: bytes) -> dict[str, msgspec.Raw]:
    """The values of what may hold half a character pair."""
    try:
        return _decode(mended(data))
    except msgspec.DecodeError as error:
        raise BadRequest(f"a member of the request body: {error}") from None


def without(data: bytes, names: frozenset[str]) -> bytes:
    """`data` without the members called `names`."""
    kept = [data[member.start : member.end] for member in members(data) if member.name not in names]
    return b"{%b}" % b",".join(kept)


def with_member(data: bytes, name: str, value: bytes) -> bytes:
    """`data` with the member `name` set to the JSON `value`, in front."""
    rest = without(data, frozenset((name,)))[1:]
    comma = b"" if rest == b"}" else b","
    return b'{"%b":%b%b%b' % (name.encode(), value, comma, rest)


def value_of(data: bytes, name: str) -> bytes:
    """The bytes of the value of `name`; empty if there is none."""
    for member in members(data):
        if member.name == name:
            return data[member.value : member.end]
    return b""
