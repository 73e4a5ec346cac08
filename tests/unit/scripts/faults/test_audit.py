"""The engines' records, joined."""

from pathlib import Path

import msgspec
from scene.audit import Audits, Record


def write(path: Path, *records: tuple[str, str], since: int = 0) -> None:
    with path.open("ab") as file:
        for wall, (event, request_id) in enumerate(records, since):
            file.write(msgspec.json.encode(Record(event, request_id, float(wall))) + b"\n")


def audits(folder: Path) -> Audits:
    return Audits({"a": folder / "a", "b": folder / "b"})


def test_every_request_has_one_fate(tmp_path: Path) -> None:
    write(tmp_path / "a", ("start", "1"), ("finish", "1"), ("start", "2"), ("abort", "2"), ("start", "3"))
    write(tmp_path / "b", ("start", "2"), ("finish", "2"), since=5)
    read = audits(tmp_path)
    read.refresh()
    tally = read.tally(["1", "2", "3", "4"])
    assert tally == {"aborted": 0, "finished": 2, "never started": 1, "still running": 1}
    assert read.engine_of("2") == "b"
    assert read.ended("2", "abort") == 3.0
    assert read.running() == ["3"]
    assert read.running(dead="a") == []
    assert read.lost("3", "a")
    assert not read.lost("3", "b")


def test_what_several_engines_recorded_is_in_order_of_time(tmp_path: Path) -> None:
    write(tmp_path / "b", ("start", "1"))
    write(tmp_path / "a", ("start", "1"), ("finish", "1"), since=1)
    read = audits(tmp_path)
    read.refresh()
    assert [engine for engine, _ in read.of("1")] == ["b", "a", "a"]
    assert read.engine_of("1") == "a"


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    read = audits(tmp_path)
    write(tmp_path / "a", ("start", "1"))
    with (tmp_path / "a").open("ab") as file:
        file.write(b'{"event":"fin')
    read.refresh()
    assert read.running() == ["1"]
    with (tmp_path / "a").open("ab") as file:
        file.write(b'ish","request_id":"1","wall":2}\n')
    read.refresh()
    assert read.running() == []
