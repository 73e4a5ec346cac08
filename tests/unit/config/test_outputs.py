"""Files left behind."""

from pathlib import Path

import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.outputs import check_apart, check_output, earlier_output, put_output


def test_looking_whether_it_can_be_written_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("old")
    check_output(str(tmp_path / "r.csv"), "csv")
    check_output(str(tmp_path / "new.csv"), "csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.csv", "old")]


def test_what_was_there_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("old and long")
    put_output(str(tmp_path / "r.csv"), "é", "csv")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("r.csv", "é")]


@pytest.mark.parametrize("place", ["/dev/null", "/", "/no/such/folder/r.csv"])
def test_files_only_are_replaced(place: str) -> None:
    with pytest.raises(ConfigError, match=f"`csv`: {place}: "):
        check_output(place, "csv")


def test_what_an_earlier_run_left_is_found(tmp_path: Path) -> None:
    assert earlier_output(str(tmp_path / "none"), "out") is None
    (tmp_path / "some").write_bytes(b"x")
    assert earlier_output(str(tmp_path / "some"), "out") == b"x"
    with pytest.raises(ConfigError, match=r"`out`: .*Is a directory"):
        earlier_output(str(tmp_path), "out")


def test_no_file_is_written_twice_or_over_what_is_read(tmp_path: Path) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    check_apart({"csv": one, "report": other, "out": ""}, ["", str(tmp_path / "trace")])
    with pytest.raises(ConfigError, match=r"`report`: .*one: `csv` is written there already"):
        check_apart({"csv": one, "report": f"{tmp_path}/./one"})
    with pytest.raises(ConfigError, match=r"`csv`: .*one: is read by this command, and would be overwritten"):
        check_apart({"csv": one}, [other, one])
