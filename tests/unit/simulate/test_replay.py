"""What was recorded of one policy, told and simulated under others."""

import json
from pathlib import Path

import pytest

from pointsman.cli import main
from pointsman.simulate.replay import recorded
from pointsman.workload.recording_line import Recorded
from pointsman.workload.traces import read_recordings

RUN = ("sim", "run", "--policy", "two_choices", "--seconds", "12", "--rate", "5")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "t.jsonl"
    assert main([*RUN, "--recording", str(path)]) == 0
    return path


def figures(text: str, name: str) -> dict[str, float]:
    (found,) = [one for one in json.loads(text)["policies"] if one["name"] == name]
    assert isinstance(found, dict)
    return found


def test_the_recorded_policy_comes_to_what_was_recorded(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main([*RUN, "--json", "--warm-up", "0"]) == 0
    then = figures(capsys.readouterr().out, "two_choices")
    replay = ["sim", "replay", str(recording), "--policies", "two_choices,jffc", "--seeds", "1", "--warm-up", "0"]
    assert main([*replay, "--jitter-s", "0", "--jobs", "1", "--json"]) == 0
    now = figures(capsys.readouterr().out, "two_choices")
    assert now["requests"] == pytest.approx(then["requests"], abs=1)
    assert now["hit_ratio"] == pytest.approx(then["hit_ratio"], abs=0.02)
    assert now["ttft_mean_s"] == pytest.approx(then["ttft_mean_s"], rel=0.1)


def test_a_person_is_told_what_was_recorded_and_which_fleet_is_simulated(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sim", "replay", str(recording), "--policies", "jffc", "--seeds", "2", "--jobs", "1"]) == 0
    said = capsys.readouterr()
    assert "Recorded: " in said.err
    assert "name your fleet by --fleet or --config" in said.err
    assert "Each seed moves dialogues by up to 1 s" in " ".join(said.out.split())


def test_lines_of_a_simulated_run_are_whole(recording: Path) -> None:
    lines, problems = read_recordings({"t": recording.read_text().splitlines()})
    assert problems == []
    assert all(line.stream and line.ttft_ms and line.total_ms and line.hash_ids for line in lines)


def test_several_runs_or_gateways_give_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (("--seeds", "2"), ("--gateways", "2")):
        assert main([*RUN, "--recording", str(tmp_path / "t"), *more]) == 2
        assert "`recording`" in capsys.readouterr().err


def test_a_recording_of_failures_is_told_too() -> None:
    line = Recorded(timestamp=0.0, input_length=1, output_length=0, outcome="refused", status=503)
    assert recorded([line]) == "Recorded: 1 requests on 0 nodes; success 0.0%."
