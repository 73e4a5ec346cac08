"""A file that others may rotate."""

from pathlib import Path

import pytest

from pointsman.observe.followed_file import FollowedFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "usage.jsonl"


def test_lines_are_appended_to_what_is_there(path: Path) -> None:
    path.write_bytes(b"one\n")
    file = FollowedFile(str(path))
    file.write(b"two\n")
    file.close()
    assert path.read_bytes() == b"one\ntwo\n"


def test_half_a_line_of_a_killed_process_is_ended(path: Path) -> None:
    path.write_bytes(b"one\nha")
    file = FollowedFile(str(path))
    file.write(b"two\n")
    file.close()
    assert path.read_bytes() == b"one\nha\ntwo\n"


@pytest.mark.parametrize("anew", [False, True])
def test_after_a_rotation_lines_go_to_the_file_of_that_name(path: Path, anew: bool) -> None:
    file = FollowedFile(str(path))
    file.write(b"one\n")
    path.rename(path.with_suffix(".1"))
    if anew:
        path.touch()
    file.write(b"two\n")
    file.close()
    assert (path.with_suffix(".1").read_bytes(), path.read_bytes()) == (b"one\n", b"two\n")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        FollowedFile(str(tmp_path))
