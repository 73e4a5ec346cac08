from pathlib import Path

import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.sim_load import sim_trace
from pointsman.config.sim_replay import SimReplayConfig, check_recordings

LINE = '{"timestamp": %d, "input_length": 40, "output_length": 9, "outcome": "ok", "model": "%s"}\n'


def test_no_recording_is_told_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match=r"`recordings`: name the files to replay"):
        check_recordings(SimReplayConfig())
    with pytest.raises(ConfigError, match=r"`trace`: recordings are named without it"):
        check_recordings(SimReplayConfig(trace="x", recordings=("y",)))
    check_recordings(SimReplayConfig(recordings=("y",)))


def test_several_recordings_are_one_trace(tmp_path: Path) -> None:
    paths = [tmp_path / "t.jsonl.1", tmp_path / "t.jsonl.2"]
    for number, path in enumerate(paths):
        path.write_text(LINE % (1000 * number + 5000, "m") + LINE % (9000, f"m{number}"))
    config = SimReplayConfig(recordings=tuple(map(str, paths)))
    trace = sim_trace(config)
    assert trace is not None
    assert trace.name == "2 recordings"
    assert [row.arrival_s for row in trace.rows] == [0.0, 1.0, 4.0, 4.0]
    chosen = sim_trace(SimReplayConfig(recordings=config.recordings, trace_model="m1"))
    assert chosen is not None
    assert len(chosen.rows) == 1
    with pytest.raises(ConfigError, match=r"no request for 'n'; there are: m, m0, m1"):
        sim_trace(SimReplayConfig(recordings=config.recordings, trace_model="n"))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(LINE % (1, "m"))
    bad.write_text("{")
    with pytest.raises(ConfigError, match=r"bad, line 1"):
        sim_trace(SimReplayConfig(recordings=(str(good), str(bad))))
    with pytest.raises(ConfigError, match=r"none: No such file"):
        sim_trace(SimReplayConfig(recordings=(str(good), str(tmp_path / "none"))))
    bad.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"not a text file"):
        sim_trace(SimReplayConfig(recordings=(str(good), str(bad))))
