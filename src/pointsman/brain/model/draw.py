"""Randomness as a pure function: the same seed and decision number give the same draws, in any process.

SplitMix64 (Steele, Lea, Flood 2014): one multiply-xor-shift round turns a counter into well-mixed 64 bits, so a draw
needs no state and a recorded decision can be replayed alone.
"""

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def draw(seed: int, sequence: int) -> int:
    """64 uniform bits for decision `sequence` under `seed`."""
    z = (seed + sequence * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def below(bits: int, n: int) -> int:
    """A uniform integer in 0..n-1 from 64 uniform bits (n far below 2^64, so the bias is negligible)."""
    return (bits * n) >> 64


def unit(bits: int) -> float:
    """A uniform float in [0, 1) from 64 uniform bits."""
    return (bits >> 11) * 2.0**-53


def again(bits: int) -> int:
    """Fresh bits derived from `bits`: for a policy that needs more than one draw."""
    return draw(bits, 1)
