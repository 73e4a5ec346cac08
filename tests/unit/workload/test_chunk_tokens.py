"""Tokens of chunks of bytes."""

import numpy as np
import pytest
from msgspec.structs import replace

from pointsman.workload.chunk_tokens import ChunkTokens, bytes_per_token
from pointsman.workload.recording_line import Recorded

SYSTEM = tuple(range(100, 110))
"""Ten chunks that all prompts begin with."""


def line(number: int, *, cached: int | None = None, chunks: int = 30) -> Recorded:
    """7,680 bytes of 1,920 tokens."""
    own = tuple(range(1000 * (number + 1), 1000 * (number + 1) + chunks - len(SYSTEM)))
    return Recorded(
        timestamp=float(number),
        input_length=1920,
        output_length=1,
        outcome="ok",
        hash_ids=SYSTEM + own,
        bytes_per_hash=256,
        input_bytes=7680,
        cached_length=cached,
    )


def test_each_model_has_its_own_bytes_per_token() -> None:
    assert bytes_per_token([line(0), replace(line(1), model="m", input_length=3840)]) == {"": 4.0, "m": 2.0}


def test_tokens_are_spread_evenly_where_nothing_else_is_known() -> None:
    ends = ChunkTokens([line(0), line(1)]).ends(line(1))
    assert ends.tolist() == pytest.approx([64.0 * (chunk + 1) for chunk in range(30)])


def test_chunks_of_tokens_are_what_they_are() -> None:
    assert ChunkTokens([]).ends(replace(line(0), tokens_per_hash=16.0))[:3].tolist() == [16.0, 32.0, 48.0]


def test_what_was_cached_tells_how_many_tokens_prompts_share() -> None:
    """The system prompt's ten chunks have 1,000 tokens instead of 640."""
    lines = [line(0, cached=0), *[line(number, cached=1000) for number in range(1, 5)]]
    chunks = ChunkTokens(lines)
    ends = chunks.ends(lines[1])
    assert ends[9] == pytest.approx(1000.0)
    assert ends[4] == pytest.approx(500.0)
    assert ends[10] == pytest.approx(1064.0)
    assert np.array_equal(ends[:10], chunks.ends(lines[4])[:10])


def test_few_and_empty_finds_are_not_believed() -> None:
    usual = ChunkTokens([line(0)]).ends(line(1))
    for lines in (
        [line(0), line(1, cached=1032), line(2, cached=1032)],
        [line(0), *[line(number, cached=0) for number in range(1, 9)]],
        [line(0), *[line(number) for number in range(1, 9)]],
    ):
        assert ChunkTokens(lines).ends(line(1)).tolist() == pytest.approx(usual.tolist())


def test_tokens_never_fall() -> None:
    """Two beginnings, of which the longer one was told to have fewer tokens."""
    short = [line(number, cached=2000) for number in range(5)]
    longer = [
        replace(line(20 + number), hash_ids=SYSTEM + (7,) * 3 + (500 + number,), cached_length=50)
        for number in range(5)
    ]
    ends = ChunkTokens([*short, *longer]).ends(longer[0])
    assert (np.diff(ends) > 0).all()
