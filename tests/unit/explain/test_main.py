"""The command."""

import json
from pathlib import Path

import pytest

from pointsman.cli import main

from .test_sources import journal


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "run.jsonl"
    file.write_bytes(b"".join(journal()))
    return str(file)


def test_a_story_is_told_in_lines_or_as_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "r", "--journal", path]) == 0
    assert "round_robin chose a" in capsys.readouterr().out
    assert main(["explain", "r", "--journal", path, "--json"]) == 0
    (story,) = json.loads(capsys.readouterr().out)
    assert story["request_id"] == "r"


def test_an_unknown_request_ends_with_one_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "x", "--journal", path]) == 1
    assert capsys.readouterr().err == f"pointsman explain: {path} has no request 'x'\n"


def test_without_an_id_the_command_says_how_to_name_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 2
    assert "name the request" in capsys.readouterr().err
