import os
from pathlib import Path

import pytest
from proxies.accounting import cpu_times, parent, resident_kib, resident_mb, tree, used_us


def process(proc: Path, pid: int, parent: int, threads: dict[int, int], resident: int) -> None:
    """Lay out /proc/PID of a process with nanoseconds by thread and resident KiB, under an awkward name."""
    home = proc / str(pid)
    for thread, spent in threads.items():
        (home / "task" / str(thread)).mkdir(parents=True)
        (home / "task" / str(thread) / "schedstat").write_text(f"{spent} 77 3\n")
    (home / "stat").write_text(f"{pid} (a) name (x) S {parent} 1 1 0 -1 0\n")
    (home / "status").write_text(f"Name:\tx\nVmHWM:\t999999 kB\nVmRSS:\t{resident:8} kB\n")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    process(tmp_path, 10, 1, {10: 1_000_000, 11: 500_000}, 1024)
    process(tmp_path, 20, 10, {20: 2_000_000}, 2048)
    process(tmp_path, 30, 20, {30: 4_000_000}, 512)
    process(tmp_path, 40, 1, {40: 8_000_000}, 4096)
    return tmp_path


def test_a_tree_holds_descendants_of_any_depth_and_nobody_else(proc: Path) -> None:
    assert tree(10, proc) == [10, 20, 30]


def test_a_name_with_brackets_does_not_hide_the_parent() -> None:
    assert parent("7 (a) (b) S 3 7 7 0 -1") == 3


def test_all_threads_of_all_processes_are_counted(proc: Path) -> None:
    assert cpu_times(tree(10, proc), proc) == {10: 1_000_000, 11: 500_000, 20: 2_000_000, 30: 4_000_000}


def test_what_was_used_is_the_growth_of_old_threads_and_all_of_new_ones() -> None:
    assert used_us({1: 5_000, 2: 9_000}, {1: 7_000, 3: 4_000}) == 6.0


def test_resident_memory_is_now_not_its_peak_and_summed(proc: Path) -> None:
    assert resident_mb([10, 20, 30], proc) == 3.5
    assert resident_kib("Name:\tzombie\n") == 0


def test_a_process_that_has_gone_counts_for_nothing(proc: Path) -> None:
    assert cpu_times([99], proc) == {}
    assert resident_mb([99], proc) == 0


def test_our_own_work_shows_in_the_real_proc() -> None:
    before = cpu_times([os.getpid()])
    while used_us(before, cpu_times([os.getpid()])) < 20_000:
        sum(range(10_000))
    assert resident_mb(tree(os.getpid())) > 1
