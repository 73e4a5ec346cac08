"""A supervisor and its workers: how many they are, and their CPU, memory and files under the names of one process."""

import os
import resource
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pointsman.observe import families

_ADDED = ("process_cpu_seconds", "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds")
_CPU = _ADDED[0]


class Processes(Collector):
    """Sums over this process, its `children` (process ids) and, for CPU time, those that have ended.

    What does not add up, such as the start time, is this process's. `restarts` counts workers that had to follow one.
    """

    def __init__(self, children: Sequence[int], restarts: int) -> None:
        self._children = children
        self._restarts = restarts

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(families.WORKERS.name, families.WORKERS.help, len(self._children))
        yield CounterMetricFamily(families.WORKER_RESTARTS.name, families.WORKER_RESTARTS.help, self._restarts)
        yield from self._usage()

    def _usage(self) -> Iterator[Metric]:
        added = [_values(pid) for pid in self._children]
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        added.append({_CPU: ended.ru_utime + ended.ru_stime})
        for metric in ProcessCollector(registry=None, pid=os.getpid).collect():
            if metric.name in _ADDED:
                total = sum(values.get(metric.name, 0.0) for values in added)
                metric.samples = [sample._replace(value=sample.value + total) for sample in metric.samples]
            yield metric


def _values(pid: int) -> dict[str, float]:
    """One process's samples by their metric; nothing for one that has just ended."""
    metrics = ProcessCollector(registry=None, pid=lambda: pid).collect()
    return {metric.name: sample.value for metric in metrics for sample in metric.samples}
