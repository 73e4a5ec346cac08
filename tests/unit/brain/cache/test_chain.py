"""Prefix chains: equal prefixes share links, and nothing else does."""

import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.chain import CHUNK_BYTES, byte_chain, seed_for, token_chain, trace_chain

SEED = seed_for(b"secret", "bytes")


def shared(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@given(st.integers(0, 2000), st.integers(0, 1500), st.integers(0, 1500))
def test_prompts_share_as_many_links_as_full_common_chunks(common: int, tail_a: int, tail_b: int) -> None:
    prefix = bytes(i % 251 for i in range(common))
    a = byte_chain(SEED, prefix + b"a" * tail_a).links
    b = byte_chain(SEED, prefix + b"b" * tail_b).links
    expected = min(common // CHUNK_BYTES, len(a), len(b))
    assert shared(list(a), list(b)) == expected


def test_a_chunk_that_is_not_full_gives_no_link() -> None:
    assert len(byte_chain(SEED, b"x" * (2 * CHUNK_BYTES - 1)).links) == 1
    assert not byte_chain(SEED, b"").links


def test_a_link_depends_on_all_that_came_before() -> None:
    same_second_chunk = [byte_chain(SEED, first * CHUNK_BYTES + b"same" * 64).links[1] for first in (b"a", b"b")]
    assert same_second_chunk[0] != same_second_chunk[1]


def test_another_key_gives_another_chain() -> None:
    data = os.urandom(CHUNK_BYTES)
    assert byte_chain(seed_for(b"one", "bytes"), data).links != byte_chain(seed_for(b"two", "bytes"), data).links


def test_kinds_never_meet_though_the_bytes_are_equal() -> None:
    assert seed_for(b"k", "bytes") != seed_for(b"k", "tokens")


def test_token_blocks_are_full_blocks_and_remember_their_size() -> None:
    chain = token_chain(SEED, list(range(70)), 32)
    assert len(chain.links) == 2
    assert chain.tokens_per_link == 32.0
    assert token_chain(SEED, [*range(64), 9], 32).links == chain.links


def test_a_negative_token_id_is_refused() -> None:
    with pytest.raises(struct.error):
        token_chain(SEED, [-1] * 16, 16)


def test_trace_ids_become_one_link_each() -> None:
    assert len(trace_chain(SEED, [5, 6], 512).links) == 2
    assert trace_chain(SEED, [5], 512).links == trace_chain(SEED, [5, 7], 512).links[:1]
