"""Prompt text made from ids, so that equal ids give equal text and a shared block id a shared text prefix.

A word is a space and three letters: four bytes, which the emulated engine's tokenizer counts as one token, and about
what real tokenizers make of English. Every word depends on the block's id and the word's place alone (a SplitMix64
hash, Steele, Lea and Flood 2014), so no text is ever stored, and blocks of one id differ nowhere.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WORD_BYTES = 4
CACHED_BLOCKS = 4096  # 2 KiB each at 512 tokens: shared blocks are asked for again and again


def prompt_text(block_ids: Sequence[int], tokens_per_block: int, tokens: int) -> str:
    """`tokens` words: those of the blocks in turn, the last one cut to size.

    Raises ValueError when the blocks do not cover that many tokens.
    """
    if len(block_ids) * tokens_per_block < tokens:
        raise ValueError(f"{len(block_ids)} blocks of {tokens_per_block} do not cover {tokens} tokens")
    text = "".join(block_text(block, tokens_per_block) for block in block_ids)
    return text[: tokens * WORD_BYTES]


@lru_cache(maxsize=CACHED_BLOCKS)
def block_text(block_id: int, tokens: int) -> str:
    """`tokens` words that belong to `block_id` (any integer of 64 bits); a longer text begins with the shorter."""
    seed = np.array([block_id & 0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64)
    place: NDArray[np.uint64] = np.arange(tokens, dtype=np.uint64)
    hashed = _splitmix(np.add(_splitmix(seed), place))
    word = np.full((tokens, WORD_BYTES), ord(" "), dtype=np.uint8)
    for letter in range(1, WORD_BYTES):
        hashed, rest = np.divmod(hashed, np.uint64(26))
        word[:, letter] = rest.astype(np.uint8) + ord("a")
    return word.tobytes().decode("ascii")


def _splitmix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function: 64 bits in, 64 well-mixed bits out."""
    mixed = state + np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return mixed ^ (mixed >> np.uint64(31))
