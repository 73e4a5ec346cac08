"""Replaying a recorded run from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.driver import TestDriver
from tests.support.random_day import RandomDay

from pointsman.cli import main
from pointsman.observe.record import Journaled, begin


@pytest.fixture
def journal(tmp_path: Path) -> Callable[[str], Path]:
    def write(policy: str) -> Path:
        path = tmp_path / "run.jsonl"
        driver = TestDriver(policy)
        dispatcher = driver.dispatcher
        with path.open("wb") as file:
            how = begin(dispatcher.settings, dispatcher.policies, 0.0)
            driver.dispatcher = Journaled(dispatcher, how, file.write)  # type: ignore[assignment]
            RandomDay(driver, seed=3).run(400)
        return path

    return write


def result(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["replay", "--json", *arguments])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("policy", ["two_choices", "fastest_completion", "hybrid"])
def test_a_run_replays_to_the_same_decisions(
    policy: str, journal: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = result(capsys, "--journal", str(journal(policy)))
    assert status == 0
    assert found["decisions"] > 100
    assert found["calls_that_start_otherwise"] == found["decisions_made_otherwise"] == 0


def test_another_policy_starts_other_things(journal: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    status, found = result(capsys, "--journal", str(journal("round_robin")), "--policy", "least_requests")
    assert status == 0
    assert found["calls_that_start_otherwise"] > 0
    assert found["decisions_made_otherwise"] == 0


def test_a_changed_journal_is_noticed(journal: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    path = journal("round_robin")
    lines = path.read_bytes().splitlines(keepends=True)
    first_submit = next(number for number, line in enumerate(lines) if b'"r1"' in line)
    path.write_bytes(b"".join(lines[:first_submit] + lines[first_submit + 1 :]))
    status, found = result(capsys, "--journal", str(path))
    assert status == 1
    assert found["other_starts"]


def test_half_a_line_that_a_killed_process_left_is_told(
    journal: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = journal("round_robin")
    whole = path.read_bytes().count(b"\n")
    path.write_bytes(path.read_bytes() + b'{"call":{"call":"ti')
    status, found = result(capsys, "--journal", str(path))
    assert (status, found["calls"], found["half_lines"]) == (0, whole, [whole + 1])
    assert main(["replay", "--journal", str(path)]) == 0
    assert f"line {whole + 1} was passed over" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name the file to replay"),
        (["--journal", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
    ],
)
def test_what_cannot_be_replayed_is_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_a_broken_journal_names_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text("{not json}\n")
    assert main(["replay", "--journal", str(path)]) == 2
    assert f"{path}: line 1" in capsys.readouterr().err


def test_an_unknown_policy_is_told_with_those_there_are(
    journal: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--journal", str(journal("jffc")), "--policy", "jfcc"]) == 2
    assert "did you mean 'jffc'" in capsys.readouterr().err
