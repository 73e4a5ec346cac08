"""Settings of a replay."""

from pathlib import Path

import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.replay import ReplayConfig, recorded


def test_the_journal_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"line\n")
    with recorded(ReplayConfig(journal=str(path))) as lines:
        assert list(lines) == [b"line\n"]


def test_of_several_workers_journals_each_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl.1").write_bytes(b"line\n")
    with pytest.raises(ConfigError, match=r"run\.jsonl: No such file or directory; its workers wrote .*/run\.jsonl\.1"):
        recorded(ReplayConfig(journal=str(tmp_path / "run.jsonl")))


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"`journal`: .*: Is a directory"):
        recorded(ReplayConfig(journal=str(tmp_path)))
