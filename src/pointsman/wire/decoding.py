"""JSON as strangers write it: whatever is wrong with it is a `msgspec.DecodeError`, and engines' laxity is kept.

msgspec gives up on deep nesting with a RecursionError, even in a value it skips. And a lone surrogate (`"\\ud83d"`) is
valid JSON and engines take it, but msgspec refuses it; such a text is decoded from a copy in which the escape is
replaced by one of equal length, so that spans are the same in both.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

Value = TypeVar("Value")

_LONE_SURROGATE = re.compile(  # both kinds begin alike, so that nothing but escapes is looked at
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_MOST_MENDED = 10_000
"""Lone surrogates that are forgiven: each costs time, and texts cut inside a character have one or two."""


def decoder(kind: type[Value]) -> Callable[[bytes | msgspec.Raw], Value]:
    """A function that decodes JSON to `kind`. It raises msgspec.DecodeError and nothing else."""
    decode = msgspec.json.Decoder(kind).decode

    def decoded(data: bytes | msgspec.Raw) -> Value:
        try:
            return decode(data)
        except RecursionError:
            raise msgspec.DecodeError("JSON is nested too deeply") from None

    return decoded


def mended(data: bytes) -> bytes:
    """`data` with lone surrogates replaced, byte for byte as long; the same object when there is none."""
    return _LONE_SURROGATE.sub(rb"\\ufffd", data, count=_MOST_MENDED)
