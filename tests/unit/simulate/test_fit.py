"""`pointsman sim fit` from the command line: what it prints can be simulated, and run as an engine."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from pointsman.cli import USAGE_ERROR, main
from pointsman.config.flags import convert
from pointsman.config.sim import RunConfig, fleet_of
from pointsman.engine.settings import EngineConfig
from pointsman.sim.fit import Fit
from pointsman.sim.fit_comparison import Constants, Errors
from pointsman.simulate.fit import warnings

FLEET = """
seconds = 30
rate = 4
workload = "chat"
[[node]]
name = "n"
overhead_ms = 10
bandwidth_scale = 0.7
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("fit")
    (folder / "f.toml").write_text(FLEET)
    path = folder / "t.jsonl"
    assert main(["sim", "run", "--config", str(folder / "f.toml"), "--policy", "jffc", "--recording", str(path)]) == 0
    return str(path)


def test_what_is_printed_can_be_simulated(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["sim", "fit", recording]) == 0
    said = capsys.readouterr()
    (node,) = fleet_of(convert(tomllib.loads(said.out), RunConfig, "stdout"))
    assert node.name == "fitted"
    assert tomllib.loads(said.out)["node"][0]["bandwidth_scale"] == pytest.approx(0.7, rel=0.1)
    assert "TPOT, held out" in said.err
    assert "few to fit to" in said.err


def test_or_run_as_an_engine(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["sim", "fit", recording, "--form", "engine", "--max-num-seqs", "64"]) == 0
    config = convert(tomllib.loads(capsys.readouterr().out), EngineConfig, "stdout")
    assert config.max_num_seqs == 64
    assert config.overhead_ms < 15


def test_json_is_the_fit(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["sim", "fit", recording, "--json"]) == 0
    found = msgspec.json.decode(capsys.readouterr().out, type=Fit)
    assert found.fitted["ttft"].requests > 10


def test_too_few_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t"
    path.write_text('{"timestamp": 1, "input_length": 40, "output_length": 9, "outcome": "ok", "node": "a"}\n')
    assert main(["sim", "fit", str(path)]) == 2
    assert "too few to fit to" in capsys.readouterr().err


def test_an_engine_without_room_is_told(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "fit", "--kv-blocks", "1", recording]) == USAGE_ERROR
    assert "`kv_blocks`: an engine with room for 16 tokens can serve no request" in capsys.readouterr().err


def test_what_to_be_careful_with() -> None:
    good = {"ttft": Errors(900, 0.1, 0.1, 0.02), "tpot": Errors(900, 0.1, 0.1, 0.02)}
    sure = Constants(0.1, 0.01, 0.01)
    assert list(warnings(Fit(Constants(), sure, good, good))) == []
    bad = {"ttft": Errors(90, 0.1, 0.3, 0.9)}
    told = " ".join(warnings(Fit(Constants(), Constants(0.1, 0.01, 0.5), bad, bad)))
    assert "90 streamed answers are few" in told
    assert "compute_scale is not known from this (± 50%)" in told
    changed = Fit(Constants(), sure, good, bad)
    assert "TTFT is off by 90% where nothing was fitted" in " ".join(warnings(changed))
