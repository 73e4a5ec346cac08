"""The members of a JSON object as spans of its bytes, so that one can be cut out or replaced and the rest kept."""

import re
from collections.abc import Iterator

import msgspec

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


class Member(msgspec.Struct, frozen=True, gc=False):
    """One member: its unescaped name, and the bytes from its key to the end of its value."""

    name: str
    start: int
    value: int
    end: int


def members(data: bytes) -> Iterator[Member]:
    """The top-level members of `data`, which must be a valid JSON object."""
    depth = 0
    key: re.Match[bytes] | None = None
    value = -1
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if sign in b"{[":
            depth += 1
        elif sign == b":" and depth == 1 and value < 0:
            value = token.end()
        elif sign in b"}]," and depth == 1 and key is not None:
            yield Member(_name(key[0]), key.start(), value, token.start())
            key, value = None, -1
        elif depth == 1 and key is None and sign.startswith(b'"'):
            key = token
        if sign in b"}]":
            depth -= 1


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
    """The bytes of the last value of `name`; empty if there is none."""
    found = b""
    for member in members(data):
        if member.name == name:
            found = data[member.value : member.end].strip()
    return found


def _name(key: bytes) -> str:
    try:
        return msgspec.json.decode(key, type=str)
    except msgspec.DecodeError:
        return key.decode(errors="replace")  # a lone surrogate: no name anyone looks for
