"""Metrics in Prometheus's words: a collector that reads the counts when it is asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

import pointsman
from pointsman.observe import families
from pointsman.observe.families import Family
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.histogram import Histogram
from pointsman.observe.metrics import Metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Fleet = Callable[[], FleetReading]


def registry(metrics: Metrics, fleet: Fleet, processes: Collector | None = None) -> CollectorRegistry:
    """A registry of Pointsman's own metrics and the CPU and memory of this process, or of `processes`.

    `fleet` is called at every scrape.
    """
    result = CollectorRegistry(auto_describe=False)
    result.register(_Reader(metrics, fleet))
    result.register(processes or ProcessCollector(registry=None))
    return result


def page(registry: CollectorRegistry) -> bytes:
    """The text a scrape gets."""
    return generate_latest(registry)


class _Reader(Collector):
    def __init__(self, metrics: Metrics, fleet: Fleet) -> None:
        self._metrics, self._fleet = metrics, fleet

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        yield from _counted(self._metrics)
        yield from _gauges(self._fleet())
        yield _plain(families.CONFIGURED, {(): self._metrics.configured_at})
        yield _plain(families.BUILD, {(pointsman.__version__,): 1})


def _counted(metrics: Metrics) -> Iterator[Metric]:
    for family in families.COUNTED:
        yield _plain(family, getattr(metrics, family.field))
    for family in families.PER_LANE:
        values = {labels: getattr(lane, family.field) for labels, lane in metrics.lanes.items()}
        yield _histogram(family, values) if family.kind == "histogram" else _plain(family, values)
    for family in families.PER_MODEL:
        yield _histogram(family, {(model,): values for model, values in getattr(metrics, family.field).items()})


def _gauges(fleet: FleetReading) -> Iterator[Metric]:
    for family in families.PER_NODE:
        if family.field in fleet.columns:
            values = zip(fleet.nodes, fleet.columns[family.field], strict=True)
            yield _plain(family, {(node,): float(value) for node, value in values})
    yield _plain(families.NODE_STATE, dict.fromkeys(zip(fleet.nodes, fleet.states, strict=True), 1))
    yield _plain(families.NODE_RESIDENCY, dict.fromkeys(fleet.residencies.items(), 1))
    yield _plain(families.KV_EVENT_AGE, {(node,): age for node, age in fleet.event_ages.items()})
    yield _plain(families.REPORTED_PROMPTS, {(known,): count for known, count in fleet.known_prompts.items()})
    yield _plain(families.QUEUE_LENGTH, {(model,): waiting for model, waiting in fleet.queues.items()})
    yield _plain(families.QUEUE_OLDEST, {(model,): since for model, since in fleet.oldest.items()})
    yield _plain(families.PANIC, {(model,): float(panics) for model, panics in fleet.panics.items()})
    yield _plain(families.INDEX_ENTRIES, {(): fleet.index_entries})
    yield _plain(families.IMBALANCE, {(): fleet.imbalance()})


def _plain(family: Family, values: Mapping[tuple[str, ...], float]) -> Metric:
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric = kind(family.name, family.help, labels=family.labels)
    for labels, value in values.items():
        metric.add_metric(_texts(labels), value)
    return metric


def _histogram(family: Family, values: Mapping[tuple[str, ...], Histogram]) -> Metric:
    metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
    for labels, histogram in values.items():
        metric.add_metric(_texts(labels), histogram.cumulative(), histogram.total)
    return metric


def _texts(labels: Sequence[str]) -> list[str]:
    return [str(label) for label in labels]
