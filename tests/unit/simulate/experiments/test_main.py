"""The command from the command line."""

import json
from pathlib import Path

import pytest

from pointsman.cli import main

FILE = """
title = "Small"
question = "Does it run?"
[settings]
policies = ["round_robin", "least_requests"]
rate = 6.0
seconds = 10.0
seeds = 1
[[table]]
figures = ["ttft_mean_s"]
[[claim]]
says = "the queue is seen"
figure = "ttft_mean_s"
order = ["round_robin", "least_requests"]
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "small.toml").write_text(FILE)
    return str(tmp_path / "small.toml")


def test_without_a_name_experiments_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "experiment"]) == 0
    assert "mooncake-order" in capsys.readouterr().out


def test_an_experiment_does_not_overwrite_itself(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "experiment", path, "--out", path]) == 2
    assert "`out`" in capsys.readouterr().err
    assert Path(path).read_text() == FILE


def test_results_are_told_and_kept(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "small.json"
    assert main(["sim", "experiment", path, "--jobs", "1", "--out", str(kept)]) == 0
    told = capsys.readouterr()
    assert "Expected: the queue is seen" in told.out
    assert "results written to" in told.err
    written = json.loads(kept.read_text())
    assert (written["experiment"], written["quick"]) == ("small", False)
    assert [row["policy"] for row in written["rows"]] == ["round_robin", "least_requests"]
    assert main(["sim", "experiment", path, "--jobs", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == written


def test_what_cannot_be_run_ends_with_one_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "experiment", "mooncake-ordr"]) == 2
    assert main(["sim", "experiment", path, "--only", "nothing"]) == 2
    assert main(["sim", "experiment", "mooncake-order", "--traces", "/nowhere"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "did you mean" in lines[0]
    assert "no scene has 'nothing'" in lines[1]
    assert "/nowhere has no mooncake_conversation_trace.jsonl" in lines[2]


def test_some_scenes_may_be_run_again(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(FILE.replace("rate = 6.0", "") + "[grid]\nrate = [3.0, 6.0]\n")
    kept, again = tmp_path / "grid.json", ["sim", "experiment", str(grid), "--jobs", "1", "--out"]
    assert main([*again, str(kept)]) == 0
    whole = kept.read_text()
    assert main([*again, str(kept), "--only", "3 requests/s"]) == 0
    assert kept.read_text() == whole
    assert main([*again, str(kept), "--only", "3", "--quick"]) == 2
    assert "results of another experiment or of its quick version" in capsys.readouterr().err
    assert main([*again, path, "--only", "3"]) == 2
    assert "not results of an experiment" in capsys.readouterr().err
