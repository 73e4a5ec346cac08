"""How likely a cached block is used again, learned per class of requests and number of its uses.

Of the blocks of one kind a share p is ever used again, after a time that is exponentially distributed with rate λ
(Wang et al., "KVCache Cache in the Wild", USENIX ATC 2025, fit such times per request category and turn). A block not
used for t seconds is then used within the next L with probability

    p·e^(−λt)·(1 − e^(−λL)) / (1 − p + p·e^(−λt)),

L being how long blocks stay unused before they are evicted. Both parameters are counts that fade, so a workload that
changes is followed.
"""

from math import exp, expm1

import msgspec

Kind = tuple[str, int]
"""The class of the request that used the block last, and how often it has been used: in a dialogue, its turn."""

MOST_USES = 8
"""More uses count as so many: by then it is a prompt that many share."""
FADING = 0.9999
"""What is left of a count when one more block of the kind has been seen to its end."""
LIFESPAN_WEIGHT = 0.01
"""Weight of the newest eviction in the mean lifespan."""
PRIOR_SECONDS = 60.0
"""Mean time to a second use assumed before one was seen."""


class _Counts(msgspec.Struct):
    """Blocks used again and not, fading; `waited`: seconds until the second use, summed over the former."""

    again: float = 1.0
    never: float = 1.0
    waited: float = PRIOR_SECONDS


class ReuseTimes:
    """Mutated by the cache whose blocks it is told of. `lifespan`: seconds a block stays unused until eviction."""

    def __init__(self) -> None:
        self.lifespan = PRIOR_SECONDS
        self._kinds: dict[Kind, _Counts] = {}

    def used_again(self, kind: Kind, after: float) -> None:
        """A block of that kind was used `after` seconds unused, held still or evicted meanwhile."""
        counts = self._faded(kind)
        counts.again += 1.0
        counts.waited += after

    def never_again(self, kind: Kind) -> None:
        """A block of that kind was evicted and not asked for since, as far as anybody remembers."""
        self._faded(kind).never += 1.0

    def evicted(self, after: float) -> None:
        """A block was evicted `after` seconds unused."""
        self.lifespan += LIFESPAN_WEIGHT * (after - self.lifespan)

    def probability(self, kind: Kind, unused: float) -> float:
        """That a block unused for so many seconds is used within the next `lifespan`."""
        counts = self._counts(kind)
        share = counts.again / (counts.again + counts.never)
        rate = counts.again / max(counts.waited, 1e-9)
        waiting = share * exp(-rate * unused)
        return waiting * -expm1(-rate * self.lifespan) / (1.0 - share + waiting)

    def _faded(self, kind: Kind) -> _Counts:
        counts = self._counts(kind)
        counts.again *= FADING
        counts.never *= FADING
        counts.waited *= FADING
        return counts

    def _counts(self, kind: Kind) -> _Counts:
        counts = self._kinds.get(kind)
        if counts is None:
            counts = self._kinds[kind] = _Counts()
        return counts
