from pathlib import Path

import pytest

from pointsman.config.fit import FitConfig, profile, recorded_lines
from pointsman.config.flags import ConfigError

LINE = '{"timestamp": 1, "input_length": 40, "output_length": 9, "outcome": "ok", "node": "%s"}\n'


def test_nodes_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text(LINE % "a" + LINE % "b" + LINE % "")
    assert len(recorded_lines(FitConfig(recordings=(str(path),)))) == 3
    assert [one.node for one in recorded_lines(FitConfig(recordings=(str(path),), nodes=("b",)))] == ["b"]
    with pytest.raises(ConfigError, match="no request to 'c' was recorded; there are: a, b"):
        recorded_lines(FitConfig(recordings=(str(path),), nodes=("c",)))


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`recordings`: name the files"):
        recorded_lines(FitConfig())
    path = tmp_path / "t"
    path.write_text("{")
    with pytest.raises(ConfigError, match="t, line 1"):
        recorded_lines(FitConfig(recordings=(str(path),)))


def test_engines_are_as_told_and_as_fitted() -> None:
    config = FitConfig(gpu="H100", max_num_seqs=7)
    assert config.engine().overhead_ms == 20.0
    fitted = profile(config.engine(overhead_ms=10.0, bandwidth_scale=0.5))
    assert fitted.limits.max_num_seqs == 7
    assert fitted.overhead_seconds == 0.01
    with pytest.raises(ConfigError, match="no gpu 'X'"):
        profile(FitConfig(gpu="X").engine())
