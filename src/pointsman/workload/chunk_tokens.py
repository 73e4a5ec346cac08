"""How many tokens the leading chunks of recorded prompts have, where chunks were counted in bytes.

On average that follows from all prompts of a model. But a system prompt or a table of tools has other tokens than what
users write, and it is what prompts share. So where engines told, of several prompts that part at the same chunk, how
much they found cached, the most of that is taken for the tokens up to there. (Some of it lies in the chunk after, of
which prompts share a part; nothing else could stand for that.) Between such chunks, and after the last, tokens are
spread evenly. Prompts that share chunks agree on their tokens.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .recording_line import Recorded

AGREEING = 3
"""Prompts that part at a chunk, of which something was cached, before they are believed."""
BYTES_PER_TOKEN = 4.0
"""Of a model of which nothing is known."""


class ChunkTokens:
    """Learns from `lines`, which are in order of arrival."""

    def __init__(self, lines: Sequence[Recorded]) -> None:
        self._ratio = bytes_per_token(lines)
        self._told = _told(lines)

    def ends(self, line: Recorded) -> NDArray[np.float64]:
        """Tokens of the prompt up to the end of each chunk, never falling."""
        count = len(line.hash_ids)
        if line.tokens_per_hash:
            return np.asarray(np.arange(1, count + 1) * line.tokens_per_hash, dtype=np.float64)
        usual = line.bytes_per_hash / self._ratio.get(line.model, BYTES_PER_TOKEN)
        depths, tokens = [0.0], [0.0]
        for depth, link in enumerate(line.hash_ids, start=1):
            known = self._told.get(link, 0.0)
            if known > tokens[-1]:
                depths.append(depth)
                tokens.append(known)
        tokens.append(tokens[-1] + (count - depths[-1]) * usual)
        return np.asarray(np.interp(np.arange(1, count + 1), [*depths, count], tokens))


def bytes_per_token(lines: Iterable[Recorded]) -> dict[str, float]:
    """By model, the mean over its requests whose prompts are known in bytes."""
    sums: dict[str, tuple[int, int]] = {}
    for one in lines:
        if one.input_bytes:
            size, tokens = sums.get(one.model, (0, 0))
            sums[one.model] = size + one.input_bytes, tokens + one.input_length
    return {model: size / tokens for model, (size, tokens) in sums.items()}


def _told(lines: Sequence[Recorded]) -> dict[int, float]:
    """By the last chunk that a prompt shares with any before it, the most tokens that were found cached."""
    seen: set[int] = set()
    found: dict[int, list[int]] = {}
    for line in lines:
        shared = next((link for link in reversed(line.hash_ids) if link in seen), None)
        if shared is not None and line.cached_length:
            found.setdefault(shared, []).append(line.cached_length)
        seen.update(line.hash_ids)
    return {link: float(max(cached)) for link, cached in found.items() if len(cached) >= AGREEING}
