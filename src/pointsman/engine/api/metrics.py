"""vLLM's metrics of the emulated engine, under its names. Times are engine seconds.

Values are kept as plain numbers and made into metric families when somebody asks, since a histogram is observed for
every token and asked for every few seconds.
"""

from bisect import bisect_left
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from pointsman.engine.api.choice import Choice
from pointsman.engine.core import Core

_FIRST_TOKEN = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
    160,
    640,
    2560,
)
_INTER_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_REQUEST = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_HISTOGRAMS = (
    ("time_to_first_token_seconds", "Time to first token in seconds.", _FIRST_TOKEN),
    ("inter_token_latency_seconds", "Inter-token latency in seconds.", _INTER_TOKEN),
    ("e2e_request_latency_seconds", "End-to-end request latency in seconds.", _REQUEST),
    ("request_queue_time_seconds", "Time in WAITING phase in seconds.", _REQUEST),
    ("request_prefill_time_seconds", "Time in PREFILL phase in seconds.", _REQUEST),
    ("request_decode_time_seconds", "Time in DECODE phase in seconds.", _REQUEST),
)


class Tally:
    """A histogram's counts."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.clear()

    def clear(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        """Buckets as the exposition wants them: (upper bound, observations up to it)."""
        running = 0
        buckets = []
        for bound, count in zip((*map(str, map(float, self.bounds)), "+Inf"), self.counts, strict=True):
            running += count
            buckets.append((bound, float(running)))
        return buckets


class EngineMetrics:
    """What the engine observes while it writes."""

    def __init__(self) -> None:
        self.tallies = {name: Tally(bounds) for name, _, bounds in _HISTOGRAMS}
        self.finished_by_reason: dict[str, int] = {}
        self._inter_token = self.tallies["inter_token_latency_seconds"]

    def clear(self) -> None:
        for tally in self.tallies.values():
            tally.clear()
        self.finished_by_reason.clear()

    def token(self, choice: Choice, now: float) -> None:
        """A choice got a token."""
        if choice.sequence.generated == 1:
            self.tallies["time_to_first_token_seconds"].observe(now - choice.submitted_at)
        else:
            self._inter_token.observe(now - choice.last_token_at)
        choice.last_token_at = now

    def aborted(self) -> None:
        """A choice was given up before its end."""
        self._count("abort")

    def finished(self, choice: Choice, now: float) -> None:
        """A choice ended by itself."""
        self._count(choice.finish_reason or "stop")
        sequence = choice.sequence
        scheduled = sequence.scheduled_at if sequence.scheduled_at is not None else now
        first = sequence.first_token_at if sequence.first_token_at is not None else now
        self.tallies["e2e_request_latency_seconds"].observe(now - choice.submitted_at)
        self.tallies["request_queue_time_seconds"].observe(scheduled - sequence.arrival)
        self.tallies["request_prefill_time_seconds"].observe(first - scheduled)
        self.tallies["request_decode_time_seconds"].observe(now - first)

    def _count(self, reason: str) -> None:
        self.finished_by_reason[reason] = self.finished_by_reason.get(reason, 0) + 1


class EngineCollector(Collector):
    """Makes the metric families of one engine."""

    def __init__(self, core: Core, metrics: EngineMetrics, model: str, started_unix: float) -> None:
        self._core = core
        self._metrics = metrics
        self._labels = {"engine": "0", "model_name": model}
        self._started = started_unix

    def collect(self) -> Iterator[Metric]:
        yield from self._gauges()
        yield from self._counters()
        for name, text, _ in _HISTOGRAMS:
            tally = self._metrics.tallies[name]
            family = HistogramMetricFamily(f"vllm:{name}", text, labels=tuple(self._labels))
            family.add_metric(tuple(self._labels.values()), buckets=tally.cumulative(), sum_value=tally.total)
            yield family
        yield self._cache_config()

    def _gauges(self) -> Iterator[Metric]:
        core = self._core
        for name, text, value in (
            ("vllm:num_requests_running", "Number of requests in model execution batches.", core.running),
            ("vllm:num_requests_waiting", "Number of requests waiting to be processed.", core.waiting),
            ("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", core.kv_usage),
        ):
            family = GaugeMetricFamily(name, text, labels=tuple(self._labels))
            family.add_metric(tuple(self._labels.values()), value)
            yield family
        yield GaugeMetricFamily("process_start_time_seconds", "Start of the process in unix time.", self._started)

    def _counters(self) -> Iterator[Metric]:
        totals = self._core.totals
        for name, text, value in (
            (
                "vllm:prefix_cache_queries",
                "Prefix cache queries, in tokens.",
                totals.prefix_queries,
            ),
            ("vllm:prefix_cache_hits", "Prefix cache hits, in tokens.", totals.prefix_hits),
            ("vllm:num_preemptions", "Cumulative number of preemption from the engine.", totals.preemptions),
            ("vllm:prompt_tokens", "Number of prefill tokens processed.", totals.prompt_tokens),
            ("vllm:generation_tokens", "Number of generation tokens processed.", totals.generated_tokens),
        ):
            family = CounterMetricFamily(name, text, labels=tuple(self._labels))
            family.add_metric(tuple(self._labels.values()), value)
            yield family
        success = CounterMetricFamily(
            "vllm:request_success",
            "Count of ended requests by reason.",
            labels=(*self._labels, "finished_reason"),
        )
        for reason, count in self._metrics.finished_by_reason.items():
            success.add_metric((*self._labels.values(), reason), count)
        yield success

    def _cache_config(self) -> Metric:
        limits = self._core.limits
        family = GaugeMetricFamily(
            "vllm:cache_config_info",
            "Information of the LLMEngine CacheConfig",
            labels=("block_size", "enable_prefix_caching", "engine", "num_gpu_blocks"),
        )
        family.add_metric((str(limits.block_size), "True", "0", str(limits.blocks)), 1.0)
        return family


def registry_of(collector: EngineCollector) -> CollectorRegistry:
    """A registry of its own, so that several engines can live in one process."""
    registry = CollectorRegistry()
    registry.register(collector)
    return registry
