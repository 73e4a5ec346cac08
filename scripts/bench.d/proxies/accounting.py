"""What a process and all that descend from it have used, from /proc.

Threads are counted one by one in nanoseconds (`schedstat`): the totals of /proc/PID/stat come in steps of 10 ms, too
coarse for runs of a few seconds. A thread that ends between two samples is left out; none of the proxies has any that
work and end.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
CpuTimes = Mapping[int, int]
"""Nanoseconds on a CPU, user and system together, by thread id."""


def tree(pid: int, proc: Path = PROC) -> list[int]:
    """`pid` and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for stat in _read_all(proc.glob("[0-9]*/stat")):
        children.setdefault(parent(stat), []).append(int(stat.split(None, 1)[0]))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def parent(stat: str) -> int:
    """The parent's id in the text of /proc/PID/stat, whose second field, a name, may hold blanks and brackets."""
    return int(stat.rpartition(")")[2].split()[1])


def cpu_times(pids: list[int], proc: Path = PROC) -> CpuTimes:
    """Now, of all threads of `pids`."""
    threads = [path for pid in pids for path in proc.glob(f"{pid}/task/*/schedstat")]
    return {int(path.parent.name): int(text.split()[0]) for path in threads for text in _read_all([path])}


def used_us(before: CpuTimes, after: CpuTimes) -> float:
    """Microseconds between two samples, of the threads alive at the second."""
    return sum(now - before.get(thread, 0) for thread, now in after.items()) / 1e3


def resident_mb(pids: list[int], proc: Path = PROC) -> float:
    """Resident memory in MiB, pages shared between processes counted for each."""
    return sum(map(resident_kib, _read_all(proc / str(pid) / "status" for pid in pids))) / 1024


def resident_kib(status: str) -> int:
    """VmRSS in the text of /proc/PID/status; zero for a process without memory of its own (a zombie)."""
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _read_all(paths: Iterator[Path] | list[Path]) -> Iterator[str]:
    """The texts of those that still exist."""
    for path in paths:
        try:
            yield path.read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
