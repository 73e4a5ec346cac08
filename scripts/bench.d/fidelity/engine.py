"""`pointsman engine`, whose answers to /tokenize have 31-bit ids, as those of any real vocabulary would.

The emulated engine's own ids are up to 48 bits long, for it has no vocabulary and reads the text back from them.
vllm-router routes by the prefix of ids and takes none above 32 bits; without ids it sees no prefix at all.
"""

import sys

from xxhash import xxh32_intdigest

from pointsman.cli import main
from pointsman.engine.api import control
from pointsman.engine.text.tokens import split


def small_ids(prompt: bytes) -> list[int]:
    """Equal tokens have equal ids."""
    return [xxh32_intdigest(token) >> 1 for token in split(prompt)]


if __name__ == "__main__":
    control.to_ids = small_ids
    sys.exit(main())
