"""A tokenizer without a vocabulary: deterministic, stateless, reversible, and stable under concatenation.

A prompt is one byte string: UTF-8 text, in which the bytes that UTF-8 never uses stand for special tokens (0xF8-0xFE),
or, after 0xFF, for a foreign token id in eight bytes. A token is a special byte, an escaped foreign id, or up to four
bytes of text with a space in front where there is one. A space always begins a token, so text that begins with a space
can be appended to a prompt, as text or as ids, without changing the tokens before it. One pass of a compiled regular
expression cuts a prompt into blocks of tokens, and only what needs single tokens cuts the blocks further.

The id of a text token is the integer of its bytes behind a leading 0x01 (below 2^48, exact in JSON numbers); that of a
special token is its byte.
"""

import re
from functools import lru_cache

from xxhash import xxh3_64_intdigest

END, SYSTEM, USER, ASSISTANT, TOOL, MEDIA = 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD
SPECIAL_NAMES = {
    END: "<|end|>",
    SYSTEM: "<|system|>",
    USER: "<|user|>",
    ASSISTANT: "<|assistant|>",
    TOOL: "<|tool|>",
    MEDIA: "<|media|>",
}
MAX_ID = 2**63 - 1

_PIECE = rb"(?: [^ \xf8-\xff]{0,4}|[^ \xf8-\xff]{1,4}|[\xf8-\xfe]|\xff[\x00-\xff]{8})"
_TOKEN = re.compile(_PIECE)
_TEXT_TOKEN = re.compile(rb" [^ \xf8-\xff]{0,4}|[^ \xf8-\xff]{1,4}")
_FULL = 4  # bytes of a text token, its leading space not counted, at which the next byte starts another


@lru_cache(maxsize=8)
def _block_pattern(block_size: int) -> re.Pattern[bytes]:
    return re.compile(_PIECE + b"{1,%d}+" % block_size)


def split(prompt: bytes) -> list[bytes]:
    """The tokens of a prompt, as bytes."""
    return _TOKEN.findall(prompt)


def split_blocks(prompt: bytes, block_size: int) -> list[bytes]:
    """The prompt cut every `block_size` tokens; the last block may be short."""
    return _block_pattern(block_size).findall(prompt)


def chain(blocks: list[bytes], parent: int = 0) -> list[int]:
    """The chained hashes of `blocks`: each hash is seeded with the one before."""
    hashes = []
    for block in blocks:
        parent = xxh3_64_intdigest(block, parent)
        hashes.append(parent)
    return hashes


def to_ids(prompt: bytes) -> list[int]:
    """The token ids of a prompt."""
    return [_to_id(piece) for piece in split(prompt)]


def _to_id(piece: bytes) -> int:
    lead = piece[0]
    if lead == 0xFF:
        return int.from_bytes(piece[1:], "big")
    return lead if lead >= 0xF8 else int.from_bytes(b"\x01" + piece, "big")


def from_ids(ids: list[int]) -> bytes:
    """The prompt with exactly these token ids; ids that are not ours, or not where we would cut, are escaped.

    Whether an id is escaped depends only on the ids before it. Raises ValueError for ids outside 0 … 2^63-1.
    """
    pieces: list[bytes] = []
    open_end = False  # whether further text bytes would join the last piece
    for token in ids:
        if not 0 <= token <= MAX_ID:
            raise ValueError(f"token id {token} is out of range")
        piece = _from_id(token)
        text = piece[0] < 0xF8
        if text and open_end and piece[0] != 0x20:
            piece, text = _escape(token), False
        pieces.append(piece)
        open_end = text and len(piece) - (piece[0] == 0x20) < _FULL
    return b"".join(pieces)


def _from_id(token: int) -> bytes:
    if token in SPECIAL_NAMES:
        return bytes((token,))
    raw = token.to_bytes((token.bit_length() + 7) // 8 or 1, "big")
    if raw[0] == 0x01 and _TEXT_TOKEN.fullmatch(raw, 1):
        return raw[1:]
    return _escape(token)


def _escape(token: int) -> bytes:
    return b"\xff" + token.to_bytes(8, "big")


def to_text(prompt: bytes) -> str:
    """A prompt as people read it: special tokens by name, foreign ids as `<id>`."""
    return "".join(_readable(run) for run in re.findall(rb"[^\xf8-\xff]+|[\xf8-\xfe]|\xff[\x00-\xff]{8}", prompt))


def _readable(run: bytes) -> str:
    if run[0] < 0xF8:
        return run.decode("utf-8", "replace")
    if run[0] == 0xFF:
        return f"<{int.from_bytes(run[1:], 'big')}>"
    return SPECIAL_NAMES.get(run[0], f"<{run[0]}>")
