"""Settings of the demonstration: defaults that are valid, a trace that opens or is explained."""

import msgspec
import pytest

from pointsman.config.demo import DemoConfig, check_report, journal_folder, read_demo_trace, write_report
from pointsman.config.flags import ConfigError
from pointsman.workload.rows import TraceError


def test_defaults_are_valid_by_their_own_rules():
    assert msgspec.convert(msgspec.to_builtins(DemoConfig()), DemoConfig) == DemoConfig()


@pytest.mark.parametrize("wrong", [{"load": 0}, {"policies": []}, {"time_scale": -1}, {"no_such": 1}])
def test_what_cannot_work_is_refused(wrong):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, DemoConfig)


def test_without_a_trace_there_is_none():
    assert read_demo_trace(DemoConfig()) is None


def test_a_trace_is_read_by_its_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,48,10\n")
    assert read_demo_trace(DemoConfig(trace=str(path))).name == "t.csv"


def test_a_trace_that_is_not_there_or_not_text_is_explained(tmp_path):
    with pytest.raises(ConfigError, match=r"`trace`: .*No such file"):
        read_demo_trace(DemoConfig(trace=str(tmp_path / "no.csv")))
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="not a text file"):
        read_demo_trace(DemoConfig(trace=str(tmp_path / "b.csv")))


def test_the_report_is_written_where_asked(tmp_path):
    write_report(DemoConfig(report=str(tmp_path / "r.html")), "<p>é</p>")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == "<p>é</p>"


def test_looking_whether_a_report_can_be_written_leaves_what_is_there(tmp_path):
    (tmp_path / "r.html").write_text("old")
    check_report(DemoConfig(report=str(tmp_path / "r.html")))
    check_report(DemoConfig(report=str(tmp_path / "new.html")))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.html", "old")]


@pytest.mark.parametrize("place", ["/dev/null", "/", "/no/such/folder/r.html"])
def test_a_report_replaces_files_only(place):
    with pytest.raises(ConfigError, match=f"`report`: {place}: "):
        check_report(DemoConfig(report=place))


def test_the_folder_for_journals_is_made(tmp_path):
    assert journal_folder(DemoConfig()) is None
    folder = journal_folder(DemoConfig(journals=str(tmp_path / "a" / "b")))
    assert folder is not None
    assert folder.is_dir()


def test_a_folder_that_cannot_be_made_is_a_bad_setting(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"`journals`: "):
        journal_folder(DemoConfig(journals=str(tmp_path / "file" / "b")))
