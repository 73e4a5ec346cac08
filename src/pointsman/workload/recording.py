"""Recordings of live traffic: one JSON line for each request, with Mooncake's fields and what came of the request.

A line stands for itself, so files may be cut, rotated, concatenated and read in any number and order. Prompts are not
in it; `hash_ids` are chained hashes of the prompt's leading chunks. A gateway that counts chunks in bytes knows how
many tokens a chunk has only on average: here that is taken over all requests of a model, and the chunks are laid out
anew as blocks of equal size in tokens. Block j is as equal in two prompts as the chunk in which it ends.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Annotated

import msgspec
from msgspec import Meta

from .rows import Trace, TraceError, TraceRow

BLOCK_TOKENS = 64
"""Tokens of the blocks that chunks of bytes become: about what 256 bytes are, and a multiple of engines' blocks."""
FIELDS = frozenset({"timestamp", "input_length", "output_length", "outcome"})
"""What tells a recording's line from one of Mooncake's."""

Count = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[float, Meta(ge=0)]


class Recorded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request. Lengths in tokens; times in milliseconds, `timestamp` since 1970 and the others since then.

    `hash_ids` cover `tokens_per_hash` tokens each, or `bytes_per_hash` of the prompt's `input_bytes`. `outcome` is
    how the last try ended (`ok`, `fail`, `busy`, `cancelled`) or `refused`, `reason` one word for why. `wait_ms` is
    when the last try began on `node`. Left out: what has its default, and what is not known, such as the first token
    of an answer that was not streamed.
    """

    timestamp: Milliseconds
    input_length: Annotated[int, Meta(ge=1)]
    output_length: Count
    hash_ids: tuple[int, ...] = ()
    tokens_per_hash: Annotated[float, Meta(ge=0)] = 0.0
    bytes_per_hash: Count = 0
    input_bytes: Count = 0
    session_id: int | str | None = None
    model: str = ""
    tenant: str = ""
    priority: float = 1.0
    stream: bool = False
    outcome: str
    reason: str = ""
    status: int = 200
    node: str = ""
    tries: Count = 0
    cached_length: Count | None = None
    wait_ms: Milliseconds | None = None
    ttft_ms: Milliseconds | None = None
    total_ms: Milliseconds | None = None

    @property
    def arrival_s(self) -> float:
        return self.timestamp / 1000

    @property
    def is_work(self) -> bool:
        """Whether an engine would generate an answer to it; the client's own mistakes are not."""
        return self.outcome != "ok" or self.status < 400


_decoder = msgspec.json.Decoder(Recorded)


def recorded(line: str) -> Recorded:
    """One line. Raises ValueError saying what is wrong with it."""
    return _decoder.decode(line)


def as_trace(name: str, lines: Iterable[Recorded], skipped: int = 0, first_problem: str = "") -> Trace:
    """The requests in order of arrival, the first at second 0, those that engines refused left out.

    A request that ended without saying how long its answer was gets the mean length of those that did: it was work
    too. Raises TraceError when nothing is left.
    """
    ordered = sorted((one for one in lines if one.is_work), key=lambda one: one.timestamp)
    if not ordered:
        raise TraceError(f"{name}: not one request that an engine took")
    begin, usual = ordered[0].arrival_s, _usual_output(ordered)
    blocks = _Blocks(ordered)
    rows = tuple(
        TraceRow(
            arrival_s=one.arrival_s - begin,
            prompt_tokens=one.input_length,
            output_tokens=one.output_length or usual,
            block_ids=(ids := blocks.of(one)),
            tokens_per_block=blocks.tokens(one) if ids else 0,
            session="" if one.session_id is None else str(one.session_id),
            model=one.model,
        )
        for one in ordered
    )
    return Trace(name, "recording", rows, skipped, first_problem)


def bytes_per_token(lines: Iterable[Recorded]) -> dict[str, float]:
    """By model, the mean over its requests whose prompts are known in bytes."""
    sums: dict[str, tuple[int, int]] = {}
    for one in lines:
        if one.input_bytes:
            size, tokens = sums.get(one.model, (0, 0))
            sums[one.model] = size + one.input_bytes, tokens + one.input_length
    return {model: size / tokens for model, (size, tokens) in sums.items()}


def _usual_output(lines: Sequence[Recorded]) -> int:
    known = [one.output_length for one in lines if one.output_length]
    return round(sum(known) / len(known)) if known else 1


class _Blocks:
    """Gives hashes short ids, equal for equal prefixes, and chunks of bytes their place among blocks of tokens."""

    def __init__(self, lines: Sequence[Recorded]) -> None:
        self._ratio = bytes_per_token(lines)
        self._ids: dict[tuple[int, int], int] = {}

    def tokens(self, one: Recorded) -> int:
        """Tokens of each of its blocks."""
        return round(one.tokens_per_hash) or BLOCK_TOKENS

    def of(self, one: Recorded) -> tuple[int, ...]:
        if not one.hash_ids:
            return ()
        size = self.tokens(one)
        per_hash = one.tokens_per_hash or one.bytes_per_hash / self._ratio.get(one.model, 4.0)
        if not per_hash:
            return ()
        count = min(int(len(one.hash_ids) * per_hash / size + 1e-9), one.input_length // size)
        ends = (ceil((block + 1) * size / per_hash - 1e-9) - 1 for block in range(count))
        ids = self._ids
        return tuple(
            [ids.setdefault((one.hash_ids[end], block), len(ids)) for block, end in enumerate(ends)],
        )
