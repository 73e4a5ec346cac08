"""`pointsman demo` as a user runs it: processes, real sockets, one JSON document, and nobody left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "pointsman", "demo", "--json")
LONG = ("--policies", "round_robin", "--seconds", "60")  # ended by what happens to it
FIGURES = {
    "name",
    "throughput_rps",
    "success",
    "ttft_mean_s",
    "ttft_p50_s",
    "ttft_p99_s",
    "tpot_mean_s",
    "hit_ratio",
    "imbalance",
}


def demo(*flags):
    return subprocess.Popen(
        [*COMMAND, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_signals,
    )


def hear_signals():
    """Whoever starts the tests in the background of a shell has them ignore SIGINT, and their children with them."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_policies_are_compared_over_real_sockets(tmp_path):
    report = tmp_path / "out.html"
    run = demo("--policies", "round_robin,jffc", "--seconds", "2", "--time-scale", "10", "--report", str(report))
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    document = json.loads(out)
    assert [policy["name"] for policy in document["policies"]] == ["round_robin", "jffc"]
    for policy in document["policies"]:
        assert set(policy) >= FIGURES
        assert policy["requests"] > 20
        assert policy["problems"] == []
        assert 0 < policy["ttft_p50_s"] <= policy["ttft_p99_s"]
        assert 0 < policy["hit_ratio"] < 1
    assert "<svg" in report.read_text()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_no_process(how):
    run = demo(*LONG)
    try:
        deadline = time.monotonic() + 20
        while len(children := children_of(run.pid)) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(children) == 5  # four engines and a gateway
    finally:
        run.send_signal(how)
        out, err = run.communicate(timeout=20)
    assert run.returncode == 130, err
    assert out == ""
    assert "interrupted" in err
    assert not [child for child in children if alive(child)]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_killed_run_leaves_no_process(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # its logs are left behind
    run = demo(*LONG)
    deadline = time.monotonic() + 20
    while len(children := children_of(run.pid)) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    run.kill()
    run.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while any(alive(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [child for child in children if alive(child)]
    for child in left:
        os.kill(child, signal.SIGKILL)
    assert len(children) == 5
    assert not left


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--policies", "fastest"), "no policy named 'fastest'"),
        (("--trace", "/no/such/trace.jsonl"), "No such file"),
    ],
)
def test_what_cannot_work_is_said_before_anything_starts(flags, told):
    run = demo(*flags)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 2
    assert told in err


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_an_engine_that_dies_ends_the_run_with_its_name_and_what_to_do():
    run = demo(*LONG)
    deadline = time.monotonic() + 20
    while len(children := children_of(run.pid)) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(children[0], signal.SIGKILL)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 1
    assert "fast-1 ended with status -9" in err
    assert "Try it by hand" in err
    assert not [child for child in children if alive(child)]
