"""How many tokens a request will probably put out: a fading histogram per (model, tenant) and per model.

Lengths span four orders of magnitude and are cut by `max_tokens`, so a mean alone will not do: the expectation is that
of min(length, max_tokens) over logarithmic bins. A tenant with few answers leans on its model, a model on FIRST_GUESS.
"""

from collections import OrderedDict
from math import log2

import numpy as np

from pointsman.brain.model.view import Floats

BINS_PER_OCTAVE = 2
OCTAVES = 18  # up to 2^18 tokens
FIRST_GUESS = 256.0
"""Tokens; the medians of public chat traces lie between 100 and 400."""

PRIOR_ANSWERS = 2.0
"""How many answers the guess from the wider group is worth: few, since tenants differ by more than their answers do."""

FADE = 0.995
"""Weight kept per further answer of the same key: a memory of some 200 answers."""

MOST_KEYS = 4096

_CENTRES: Floats = 2.0 ** ((np.arange(OCTAVES * BINS_PER_OCTAVE) + 0.5) / BINS_PER_OCTAVE)
_LENGTHS: Floats = np.append(_CENTRES, 0.0)
"""The length each cell of a histogram stands for; its last cell is no bin but counts all answers, fading with them."""


class OutputLength:
    """Expected output tokens; `observe` mutates. The least recently observed of MOST_KEYS keys is forgotten."""

    def __init__(self) -> None:
        self._histograms: OrderedDict[tuple[str, str | None], Floats] = OrderedDict()

    def expect(self, model: str, tenant: str, max_tokens: int | None = None) -> float:
        """Expected output tokens of a request, at most `max_tokens`."""
        lengths = _LENGTHS if max_tokens is None else np.minimum(_LENGTHS, float(max_tokens))
        guess = FIRST_GUESS if max_tokens is None else min(FIRST_GUESS, max_tokens)
        of_model = self._mean((model, None), lengths, guess)
        return self._mean((model, tenant), lengths, of_model)

    def observe(self, model: str, tenant: str, tokens: float) -> None:
        """A request ended of itself after `tokens` of output. Ignores counts that are not positive."""
        if tokens <= 0.0:
            return
        at = min(len(_CENTRES) - 1, int(log2(max(tokens, 1.0)) * BINS_PER_OCTAVE))
        for key in ((model, None), (model, tenant)):
            histogram = self._histogram(key)
            histogram *= FADE
            histogram[at] += 1.0
            histogram[-1] += 1.0

    def _mean(self, key: tuple[str, str | None], lengths: Floats, prior: float) -> float:
        """The histogram's mean, its bins counted as `lengths`, with `prior` as some of the answers."""
        histogram = self._histograms.get(key)
        if histogram is None:
            return prior
        total = float(histogram.dot(lengths))
        return (total + PRIOR_ANSWERS * prior) / (histogram.item(-1) + PRIOR_ANSWERS)

    def _histogram(self, key: tuple[str, str | None]) -> Floats:
        histogram = self._histograms.get(key)
        if histogram is None:
            if len(self._histograms) >= MOST_KEYS:
                self._histograms.popitem(last=False)
            histogram = self._histograms[key] = np.zeros(len(_LENGTHS))
        self._histograms.move_to_end(key)
        return histogram
