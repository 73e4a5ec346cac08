"""Flags as people type them."""

import pytest

from pointsman.config.arguments import Arguments


def parser() -> Arguments:
    found = Arguments("pointsman x", "about")
    found.add_argument("--report-delay-s", type=float)
    found.add_argument("--policy")
    return found


def test_whole_names_are_read() -> None:
    assert parser().flags(["--policy", "a", "--report-delay-s=2"]) == {"policy": "a", "report_delay_s": 2.0}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--report-delay", "2"], "there is no --report-delay; did you mean --report-delay-s?"),
        (["--polcy=a"], "there is no --polcy; did you mean --policy?"),
        (["--unheard-of-thing"], "there is no --unheard-of-thing; `"),
        (["a.toml"], "'a.toml' belongs to no flag (a file of settings is given as --config FILE)"),
        (["--report-delay-s", "soon"], "argument --report-delay-s: invalid float value: 'soon'"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().flags(arguments)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pointsman x: {said}")
    assert line.endswith("`pointsman x --help` lists the flags")
