"""Traces that open, or are explained."""

from pathlib import Path

import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.traces import trace_file
from pointsman.workload.rows import TraceError

GOOD = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,48,10\n"


def test_a_trace_is_known_by_its_files_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    trace = trace_file(str(tmp_path / "t.csv"), lenient=False)
    assert (trace.name, len(trace.rows)) == ("t.csv", 1)


def test_bad_rows_are_skipped_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(GOOD + "2023-11-16 18:17:04,48,ten\n")
    with pytest.raises(TraceError, match=r"t\.csv, line 3: GeneratedTokens is 'ten'"):
        trace_file(str(tmp_path / "t.csv"), lenient=False)
    assert trace_file(str(tmp_path / "t.csv"), lenient=True).skipped == 1


def test_what_cannot_be_opened_or_is_no_text_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"`trace`: .*No such file"):
        trace_file(str(tmp_path / "no.csv"), lenient=False)
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="not a text file"):
        trace_file(str(tmp_path / "b.csv"), lenient=False)
