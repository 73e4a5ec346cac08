import subprocess
import sys
from pathlib import Path

import pytest

from pointsman import __version__
from pointsman.cli import COMMANDS, USAGE_ERROR, main


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.strip() == f"pointsman {__version__}"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)


@pytest.mark.parametrize("arguments", [[], ["swerve"]])
def test_without_a_command_the_usage_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == USAGE_ERROR
    assert "usage: pointsman" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_tells_its_flags_and_at_most_25_of_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    flags = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  --")}
    assert flags
    assert len(flags) <= 25 or name != "serve"


def test_a_wrong_key_ends_with_one_line_that_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "serve.toml"
    path.write_text('polcy = "jffc"')
    assert main(["serve", "--config", str(path)]) == USAGE_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pointsman serve: {path}: `polcy` is not a setting; did you mean `policy`?")


def test_an_unknown_profile_of_an_engine_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "--profile", "unheard-of"]) == USAGE_ERROR
    assert "unheard-of" in capsys.readouterr().err


def test_help_is_fast_because_nothing_else_is_imported() -> None:
    code = "import sys, pointsman.cli; print([m for m in ('numpy', 'aiohttp', 'uvloop') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_the_package_runs_as_a_module() -> None:
    run = subprocess.run([sys.executable, "-m", "pointsman", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"pointsman {__version__}"
