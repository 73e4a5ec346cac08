"""What a process has counted, as one value that can be sent and added up.

A count that is kept under labels adds to the one of the same labels, bucket by bucket where it is a histogram.
"""

from collections.abc import Collection, Iterator
from math import inf
from typing import Any

import msgspec

from pointsman.observe import families
from pointsman.observe.histogram import Histogram
from pointsman.observe.metrics import Metrics

Labels = tuple[str, ...]
Buckets = tuple[list[int], float]


class Tally(msgspec.Struct, frozen=True):
    """Plain counts and histograms, each by the field of its family and then by labels; since when it is configured."""

    configured_at: float
    counts: dict[str, dict[Labels, float]]
    buckets: dict[str, dict[Labels, Buckets]]


def taken(metrics: Metrics) -> Tally:
    """What `metrics` has counted so far."""
    counts = {family.field: dict(getattr(metrics, family.field)) for family in families.COUNTED}
    buckets: dict[str, dict[Labels, Buckets]] = {}
    for family in families.PER_MODEL:
        histograms = getattr(metrics, family.field)
        buckets[family.field] = {(model,): _buckets(histogram) for model, histogram in histograms.items()}
    for family in families.PER_LANE:
        values = {labels: getattr(lane, family.field) for labels, lane in metrics.lanes.items()}
        if family.kind == "histogram":
            buckets[family.field] = {labels: _buckets(value) for labels, value in values.items()}
        else:
            counts[family.field] = values
    return Tally(metrics.configured_at, counts, buckets)


def add(metrics: Metrics, tally: Tally, nodes: Collection[str] | None = None) -> None:
    """Count in `metrics` what `tally` says; only what belongs to one of `nodes`, or to none, if they are given.

    Of two times of configuration the earlier holds: of processes that differ, the one that lags behind is to be seen.
    """
    metrics.configured_at = min(metrics.configured_at or inf, tally.configured_at)
    for family in families.COUNTED:
        series = getattr(metrics, family.field)
        for labels, count in _kept(family, tally.counts, nodes):
            series[labels] += count
    for family in families.PER_LANE:
        field = family.field
        if family.kind == "histogram":
            for labels, buckets in _kept(family, tally.buckets, nodes):
                _add(getattr(metrics.lanes[labels], field), buckets)
        else:
            for labels, count in _kept(family, tally.counts, nodes):
                lane = metrics.lanes[labels]
                before = getattr(lane, field)
                setattr(lane, field, type(before)(before + count))
    for family in families.PER_MODEL:
        for (model,), buckets in tally.buckets[family.field].items():
            _add(getattr(metrics, family.field)[model], buckets)


def _kept(
    family: families.Family, of: dict[str, dict[Labels, Any]], nodes: Collection[str] | None
) -> Iterator[tuple[Labels, Any]]:
    place = family.labels.index("node") if nodes is not None and "node" in family.labels else None
    for labels, value in of[family.field].items():
        if place is None or nodes is None or labels[place] in nodes:
            yield labels, value


def _buckets(histogram: Histogram) -> Buckets:
    return list(histogram.counts), histogram.total


def _add(histogram: Histogram, buckets: Buckets) -> None:
    counts, total = buckets
    histogram.counts = [here + there for here, there in zip(histogram.counts, counts, strict=True)]
    histogram.total += total
