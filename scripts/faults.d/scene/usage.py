"""What a process and its descendants hold and have used, from /proc."""

import os
from collections.abc import Iterator
from pathlib import Path

_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20


def tree(pid: int) -> list[int]:
    """`pid` and its living descendants, parents first."""
    found = [pid]
    for each in found:
        for text in _texts(Path(f"/proc/{each}/task").glob("*/children")):
            found += map(int, text.split())
    return found


def resident_mib(pids: list[int]) -> float:
    """Resident memory; pages shared between processes count for each."""
    return sum(int(text.split()[1]) for text in _texts(Path(f"/proc/{pid}/statm") for pid in pids)) * _PAGE_MIB


def cpu_seconds(pids: list[int]) -> float:
    """Time on a CPU, user and system, of all threads alive now, to the nanosecond."""
    stats = (path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(text.split()[0]) for text in _texts(stats)) / 1e9


def open_files(pids: list[int]) -> int:
    """Open descriptors: connections, listeners, files."""
    total = 0
    for pid in pids:
        try:
            total += len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue
    return total


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _texts(paths: Iterator[Path]) -> Iterator[str]:
    """The texts of those that still exist."""
    for path in paths:
        try:
            yield path.read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
