"""How many tokens a request will probably put out: a fading histogram per (model, tenant) and per model.

Lengths span four orders of magnitude and are cut by `max_tokens`, so a mean alone will not do: the expectation is that
of min(length, max_tokens) over logarithmic bins. A tenant with few answers leans on its model, a model on FIRST_GUESS.

Requests ask far more often than a histogram changes by much. So a group keeps the sums it has worked out, one for each
`max_tokens` asked for, and works them out anew only when its answers since then are a tenth of its memory.
"""

from collections import OrderedDict
from math import log, log2
from typing import Final

import numpy as np

from pointsman.brain.model.columns import Floats

BINS_PER_OCTAVE: Final = 2
OCTAVES: Final = 18  # up to 2^18 tokens
FIRST_GUESS: Final = 256.0
"""Tokens; the medians of public chat traces lie between 100 and 400."""

PRIOR_ANSWERS: Final = 2.0
"""How many answers the guess from the wider group is worth: few, since tenants differ by more than their answers do."""

ANSWERS_OF_ONES_OWN: Final = 20.0
"""From so many answers on, a group's quantiles are its own: a tail cannot be blended from means, as the mean can."""

FADE: Final = 0.995
"""Weight kept per further answer of the same key: a memory of some 200 answers."""

STALE_SHARE: Final = 0.1
"""A sum is worked out anew when the answers since the last time are this share of all that the histogram weighs."""

MOST_KEYS: Final = 4096
MOST_LIMITS: Final = 64
"""Values of `max_tokens` a group keeps sums for; beyond it all are forgotten, for they are cheaply made again."""

_BINS: Final = OCTAVES * BINS_PER_OCTAVE
_EDGES: Floats = np.arange(_BINS + 1) / BINS_PER_OCTAVE
"""Logarithms of the bins' bounds."""
_CENTRES = [2.0 ** ((number + 0.5) / BINS_PER_OCTAVE) for number in range(_BINS)]
_RESCALE_ABOVE: Final = 1e100


class _Answers:
    """The answers of one group. An older answer fades by what a newer one weighs more."""

    __slots__ = ("_beyond", "_fresh", "_newest", "_quantiles", "_sums", "_weights", "total")

    def __init__(self) -> None:
        self._weights = [0.0] * _BINS
        self._newest = 1.0
        self._sums: dict[int | None, float] = {}
        self._quantiles: dict[float, float] = {}
        self._beyond: Floats | None = None
        self._fresh = 0
        self.total = 0.0
        """How many answers the histogram stands for, faded ones for less."""

    def add(self, tokens: float) -> None:
        """One answer of `tokens` (>= 1)."""
        self._newest /= FADE
        self._weights[min(_BINS - 1, int(log2(tokens) * BINS_PER_OCTAVE))] += self._newest
        self.total = self.total * FADE + 1.0
        self._fresh += 1
        if self._fresh >= STALE_SHARE * self.total:
            self._fresh = 0
            self._sums.clear()
            self._quantiles.clear()
            self._beyond = None
        if self._newest > _RESCALE_ABOVE:
            self._weights = [weight / self._newest for weight in self._weights]
            self._newest = 1.0

    def mean(self, limit: int | None, prior: float) -> float:
        """Mean of min(length, limit), with `prior` as some of the answers."""
        total = self._sums.get(limit)
        if total is None:
            total = self._sum(limit)
        return (total + PRIOR_ANSWERS * prior) / (self.total + PRIOR_ANSWERS)

    def quantile(self, share: float) -> float:
        """The tokens that `share` (0..1) of the answers do not exceed."""
        tokens = self._quantiles.get(share)
        if tokens is None:
            if len(self._quantiles) >= MOST_LIMITS:
                self._quantiles.clear()
            tokens = self._quantiles[share] = self._quantile(share)
        return tokens

    def longer(self, tokens: Floats) -> Floats:
        """How many of the answers, `total` in all, are longer than each of `tokens` (>= 1)."""
        if self._beyond is None:
            weights = np.array(self._weights) / self._newest
            self._beyond = np.append(weights[::-1].cumsum()[::-1], 0.0)
        return np.interp(np.log2(tokens), _EDGES, self._beyond)

    def _quantile(self, share: float) -> float:
        left = share * sum(self._weights)
        for number, weight in enumerate(self._weights):
            if weight and left <= weight:
                return float(2.0 ** ((number + left / weight) / BINS_PER_OCTAVE))
            left -= weight
        return float(2**OCTAVES)  # what rounding leaves beyond the last bin

    def _sum(self, limit: int | None) -> float:
        most = float("inf") if limit is None else float(limit)
        weighted: float = sum(
            weight * min(centre, most) for weight, centre in zip(self._weights, _CENTRES, strict=True)
        )
        if len(self._sums) >= MOST_LIMITS:
            self._sums.clear()
        total = self._sums[limit] = weighted / self._newest
        return total


class OutputLength:
    """Expected output tokens; `observe` mutates. The least recently observed of MOST_KEYS keys is forgotten.

    A tenant "" is nobody in particular: of him nothing is known but his model.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[tuple[str, str | None], _Answers] = OrderedDict()

    def expect(self, model: str, tenant: str, max_tokens: int | None = None) -> float:
        """Expected output tokens of a request, at most `max_tokens`."""
        guess = FIRST_GUESS if max_tokens is None else min(FIRST_GUESS, max_tokens)
        of_model = self._groups.get((model, None))
        if of_model is None:
            return guess
        guess = of_model.mean(max_tokens, guess)
        if not tenant:
            return guess
        of_tenant = self._groups.get((model, tenant))
        return guess if of_tenant is None else of_tenant.mean(max_tokens, guess)

    def quantile(self, model: str, tenant: str, share: float, max_tokens: int | None = None) -> float:
        """Tokens that `share` (0 < share <= 1) of the answers do not exceed, at least 1 and at most `max_tokens`.

        1 means `max_tokens` itself. Where little is known, lengths are taken to be exponential around FIRST_GUESS.
        """
        if share >= 1.0 and max_tokens is not None:
            return max(1.0, max_tokens)
        tokens = self._learned(model, tenant, share)
        return max(1.0, tokens if max_tokens is None else min(tokens, max_tokens))

    def going_on(self, model: str, tenant: str, produced: Floats, further: Floats) -> Floats:
        """The probability that an answer that has so many tokens goes on for more than `further` more of them.

        One row for each of `produced`, one column for each of `further`. Of answers longer than nearly all before it is
        known only how long they have lasted, and they are taken to last as long again: P = known/(known + further).
        """
        known = produced[:, None] + FIRST_GUESS
        guess: Floats = known / (known + further)
        group = self._group_of(model, tenant)
        if group is None:
            return guess
        at_least = np.maximum(produced[:, None], 1.0)
        as_long = group.longer(at_least)
        learned: Floats = group.longer(at_least + further) / np.maximum(as_long, 1.0)
        return np.where(as_long >= 1.0, learned, guess)

    def _learned(self, model: str, tenant: str, share: float) -> float:
        group = self._group_of(model, tenant)
        if group is not None:
            return group.quantile(share)
        return -FIRST_GUESS * log(max(1.0 - share, 2.0**-OCTAVES))

    def _group_of(self, model: str, tenant: str) -> _Answers | None:
        """The tenant's own answers, else its model's, if there are enough to know more than their mean."""
        for key in ((model, tenant), (model, None)) if tenant else ((model, None),):
            group = self._groups.get(key)
            if group is not None and group.total >= ANSWERS_OF_ONES_OWN:
                return group
        return None

    def observe(self, model: str, tenant: str, tokens: float) -> None:
        """A request ended of itself after `tokens` of output. Ignores counts that are not positive."""
        if tokens <= 0.0:
            return
        tokens = max(tokens, 1.0)
        self._group((model, None)).add(tokens)
        if tenant:
            self._group((model, tenant)).add(tokens)

    def _group(self, key: tuple[str, str | None]) -> _Answers:
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MOST_KEYS:
                self._groups.popitem(last=False)
            group = self._groups[key] = _Answers()
        self._groups.move_to_end(key)
        return group
