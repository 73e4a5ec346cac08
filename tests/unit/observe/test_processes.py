import os
import resource
import subprocess
import sys

from prometheus_client import ProcessCollector

from pointsman.observe.processes import Processes


def values(processes: Processes) -> dict[str, float]:
    return {sample.name: sample.value for metric in processes.collect() for sample in metric.samples}


def own() -> dict[str, float]:
    return {s.name: s.value for metric in ProcessCollector(registry=None).collect() for s in metric.samples}


def test_workers_are_counted() -> None:
    counted = values(Processes([os.getpid()], 3))
    assert (counted["pointsman_workers"], counted["pointsman_worker_restarts_total"]) == (1, 3)


def test_memory_and_files_add_up_and_the_start_does_not() -> None:
    alone, both = values(Processes([], 0)), values(Processes([os.getpid()], 0))
    assert both["process_resident_memory_bytes"] > 1.9 * alone["process_resident_memory_bytes"]
    assert both["process_open_fds"] > 1.9 * alone["process_open_fds"]
    assert (
        both["process_start_time_seconds"] == alone["process_start_time_seconds"] == own()["process_start_time_seconds"]
    )


def test_the_time_of_those_that_have_ended_still_counts() -> None:
    subprocess.run([sys.executable, "-S", "-c", "sum(range(1_000_000))"], check=True)
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = times.ru_utime + times.ru_stime
    assert ended > 0
    before = own()["process_cpu_seconds_total"]
    counted = values(Processes([], 0))["process_cpu_seconds_total"]
    after = own()["process_cpu_seconds_total"]  # collecting garbage between two looks may take longer than the child
    assert before + ended - 1e-6 <= counted <= after + ended + 1e-6


def test_one_that_has_just_ended_is_passed_over() -> None:
    assert values(Processes([2**22 + 1], 0))["process_open_fds"] > 0
