"""Prefix chains: a prompt as a list of 64-bit hashes, each covering everything before it.

Link i = xxh3_64(chunk i, seed = link i-1), the first seed being secret per deployment: an unkeyed chain would let
whoever sees it confirm guessed prompts. Two prompts share exactly as many leading links as they share leading chunks
(up to 64-bit collisions). A chunk that is not full gives no link. The kind of chunk enters the first seed, so chains
of different kinds never meet in an index.
"""

from collections.abc import Sequence
from struct import pack
from typing import Final

from xxhash import xxh3_64_intdigest

from pointsman.brain.model.request import Chain

CHUNK_BYTES: Final = 256
"""About 64 tokens of English: fine enough for a system prompt, 512 links for a 32k-token prompt."""


def seed_for(key: bytes, kind: str) -> int:
    """The first seed of all chains of `kind` under the deployment's secret `key`."""
    return xxh3_64_intdigest(kind.encode(), xxh3_64_intdigest(key))


def byte_chain(seed: int, data: bytes) -> Chain:
    """The chain over `data` in chunks of 256 bytes; tokens per link follow the model's learned ratio."""
    links: list[int] = []
    for start in range(0, len(data) - CHUNK_BYTES + 1, CHUNK_BYTES):
        seed = xxh3_64_intdigest(data[start : start + CHUNK_BYTES], seed)
        links.append(seed)
    return Chain("bytes", links, 0.0, CHUNK_BYTES)


def token_chain(seed: int, ids: Sequence[int], block_tokens: int) -> Chain:
    """The chain over token ids in blocks of `block_tokens`. Raises struct.error for an id outside 0..2^64-1."""
    links: list[int] = []
    form = f"<{block_tokens}Q"
    for start in range(0, len(ids) - block_tokens + 1, block_tokens):
        seed = xxh3_64_intdigest(pack(form, *ids[start : start + block_tokens]), seed)
        links.append(seed)
    return Chain("tokens", links, float(block_tokens))


def chunk_link(seed: int, ids: Sequence[int]) -> int:
    """The link behind `seed` of a chunk of token ids. Raises struct.error for an id outside 0..2^64-1."""
    return xxh3_64_intdigest(pack(f"<{len(ids)}Q", *ids), seed)


def trace_chain(seed: int, block_ids: Sequence[int], block_tokens: int) -> Chain:
    """The chain over a trace's block ids, where an equal id already means an equal prefix."""
    return Chain("trace", [xxh3_64_intdigest(pack("<q", i), seed) for i in block_ids], float(block_tokens))
