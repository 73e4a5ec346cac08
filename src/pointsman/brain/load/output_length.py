"""How many tokens a request will probably put out: a fading histogram per (model, tenant) and per model.

Lengths span four orders of magnitude and are cut by `max_tokens`, so a mean alone will not do: the expectation is that
of min(length, max_tokens) over logarithmic bins. A tenant with few answers leans on its model, a model on FIRST_GUESS.

Requests ask far more often than a histogram changes by much. So a group keeps the sums it has worked out, one for each
`max_tokens` asked for, and works them out anew only when its answers since then are a tenth of its memory.
"""

from collections import OrderedDict
from math import log2

BINS_PER_OCTAVE = 2
OCTAVES = 18  # up to 2^18 tokens
FIRST_GUESS = 256.0
"""Tokens; the medians of public chat traces lie between 100 and 400."""

PRIOR_ANSWERS = 2.0
"""How many answers the guess from the wider group is worth: few, since tenants differ by more than their answers do."""

FADE = 0.995
"""Weight kept per further answer of the same key: a memory of some 200 answers."""

STALE_SHARE = 0.1
"""A sum is worked out anew when the answers since the last time are this share of all that the histogram weighs."""

MOST_KEYS = 4096
MOST_LIMITS = 64
"""Values of `max_tokens` a group keeps sums for; beyond it all are forgotten, for they are cheaply made again."""

_BINS = OCTAVES * BINS_PER_OCTAVE
_CENTRES = [2.0 ** ((number + 0.5) / BINS_PER_OCTAVE) for number in range(_BINS)]
_RESCALE_ABOVE = 1e100


class _Answers:
    """The answers of one group. An older answer fades by what a newer one weighs more."""

    __slots__ = ("_fresh", "_newest", "_sums", "_weights", "total")

    def __init__(self) -> None:
        self._weights = [0.0] * _BINS
        self._newest = 1.0
        self._sums: dict[int | None, float] = {}
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
        if self._newest > _RESCALE_ABOVE:
            self._weights = [weight / self._newest for weight in self._weights]
            self._newest = 1.0

    def mean(self, limit: int | None, prior: float) -> float:
        """Mean of min(length, limit), with `prior` as some of the answers."""
        total = self._sums.get(limit)
        if total is None:
            total = self._sum(limit)
        return (total + PRIOR_ANSWERS * prior) / (self.total + PRIOR_ANSWERS)

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
