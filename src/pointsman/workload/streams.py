"""One random stream per part of a workload, so that changing one part does not shift the draws of another."""

from zlib import crc32

import numpy as np


def stream(seed: int, part: str) -> np.random.Generator:
    """A generator that depends on the seed and the part's name alone: equal calls give equal draws."""
    return np.random.default_rng([seed, crc32(part.encode())])
