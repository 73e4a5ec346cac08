"""The command line: help that is quick, mistakes that are explained."""

import subprocess
import sys
from pathlib import Path

import pytest

from pointsman import __version__
from pointsman.cli import COMMANDS, PLAN_COMMANDS, SIM_COMMANDS, build, main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"pointsman {__version__} ({build()})\n"


@pytest.mark.parametrize("arguments", [[], ["nope"]])
def test_no_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_a_near_miss_of_a_command_is_hinted_at(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["servee"])
    assert ended.value.code == 2
    assert "no COMMAND 'servee'; did you mean 'serve'? there are: serve, engine" in capsys.readouterr().err


def test_a_near_miss_of_a_command_of_sim_is_hinted_at(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sim", "compar"])
    assert ended.value.code == 2
    assert "no COMMAND 'compar'; did you mean 'compare'? there are: run, compare, sweep" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        *sorted(COMMANDS.keys() - {"plan", "sim"}),
        *(f"plan {name}" for name in PLAN_COMMANDS),
        *(f"sim {name}" for name in SIM_COMMANDS),
    ],
)
def test_help_of_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    flags = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  --")]
    assert flags
    assert len(flags) <= 25 or command != "serve"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--policy", "nope"], "no policy named 'nope'"),
        (["serve", "--config", "/does/not/exist.toml"], "cannot be read"),
        (["serve", "--listen", "x"], "HOST:PORT"),
        (["serve", "--node", "x"], "not an http"),
        (["serve", "--node", "http://127.0.0.1:8000/v1"], "ends in /v1"),
        (["engine", "--profile", "nope"], "no profile"),
        (["engine", "--gpu", "1"], "no gpu '1'"),
        (["engine", "--audit-log", "/nonexistent/log"], "/nonexistent/log"),
        (["demo", "--load", "3"], "`load` must be a number up to 2"),
        (["demo", "--policies", "jfc"], "did you mean 'jffc'"),
        (["sim", "run", "--policy", "jfc"], "did you mean 'jffc'"),
        (["sim", "run", "--rate", "-1"], "`rate` must be a number above 0"),
        (["sim", "compare", "--fleet", "nope"], "no preset named 'nope'"),
        (["sim", "compare", "--trace", "/does/not/exist"], "No such file"),
    ],
)
def test_mistakes_take_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom pointsman.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit(bool({'numpy', 'aiohttp', 'uvloop'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "flags", "told"),
    [
        ('policy = "jfc"', [], "{file}: `policy`: no policy named 'jfc'; did you mean 'jffc'?"),
        ('policy = "jffc"', ["--policy", "jfc"], "the command line: `policy`: no policy named 'jfc'"),
        ("[timeouts]\nconnect_s = -1", [], "{file}: `timeouts.connect_s` must be a number above 0"),
        ('node_key_file = "/nowhere"', [], "{file}: `node_key_file`: '/nowhere' cannot be read"),
        ('log_level = "loud"', ["--policy", "jffc"], "{file}: `log_level`"),
    ],
)
def test_what_is_wrong_is_told_with_where_it_stands(
    text: str, flags: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(text + "\n")
    assert main(["serve", "--config", str(file), *flags]) == 2
    assert told.format(file=file) in capsys.readouterr().err


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_full_disk_is_told_in_one_line(flags: tuple[str, ...]) -> None:
    simulate = ["sim", "compare", "--policies", "jffc", "--seconds", "2", "--seeds", "1", "--jobs", "1", *flags]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "pointsman", *simulate], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert last == "pointsman sim compare: cannot write what came out: No space left on device"


def test_an_interruption_before_anything_runs_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("pointsman.simulate.main.compare", interrupted)
    assert main(["sim", "compare"]) == 130
    assert capsys.readouterr().err == "pointsman sim compare: interrupted\n"
