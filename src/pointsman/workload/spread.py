"""Arrivals inside coarse time stamps.

A trace stamped in buckets of several seconds, replayed as written, is a row of bursts that never happened. Requests
that share a stamp are therefore spread evenly over their bucket: from their stamp to the next one, but never over more
than the usual (median) distance of stamps, so that a quiet spell stays quiet.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median_low


def spread_evenly(stamps: Sequence[float]) -> list[float]:
    """Arrival seconds for ascending `stamps` (seconds): the k-th of n equal stamps moves k/n of its bucket's width."""
    distinct = sorted(set(stamps))
    if len(distinct) < 2:
        return list(stamps)
    gaps = [later - earlier for earlier, later in pairwise(distinct)]
    usual = median_low(gaps)
    width = dict(zip(distinct, [*(min(gap, usual) for gap in gaps), usual], strict=True))
    members = Counter(stamps)
    placed: Counter[float] = Counter()
    arrivals = []
    for stamp in stamps:
        arrivals.append(stamp + width[stamp] * placed[stamp] / members[stamp])
        placed[stamp] += 1
    return arrivals
