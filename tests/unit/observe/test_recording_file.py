from pathlib import Path

import pytest

from pointsman.observe.recording_file import BoundedFile


def test_lines_are_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"before\n")
    file = BoundedFile(str(path), 1000)
    file.write(b"after\n")
    file.close()
    assert path.read_bytes() == b"before\nafter\n"


def test_half_a_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"bef")
    file = BoundedFile(str(path), 1000)
    file.write(b"after\n")
    file.close()
    assert path.read_bytes() == b"bef\nafter\n"


def test_two_files_never_exceed_the_limit(tmp_path: Path) -> None:
    path, older = tmp_path / "r.jsonl", tmp_path / "r.jsonl.old"
    file = BoundedFile(str(path), 60)
    for number in range(100):
        file.write(b"line %04d\n" % number)
        sizes = [each.stat().st_size for each in (path, older) if each.is_file()]
        assert sum(sizes) <= 60
    file.close()
    assert (older.read_bytes() + path.read_bytes()).endswith(b"line 0098\nline 0099\n")
    assert older.read_bytes().count(b"\n") == 3


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        BoundedFile(str(tmp_path / "none" / "r.jsonl"), 60)
