"""How far the simulation is, told to people and to logs."""

import io

from rich.console import Console

from pointsman.simulate.progress import WHOLE, progress

NAMES = ("round_robin", "jffc, seed 2")


def told(*names: str, **terminal: bool) -> str:
    err = Console(file=io.StringIO(), width=120, **terminal)  # type: ignore[arg-type]
    with progress(50.0, len(names), err) as begin:
        bars = [begin(name) for name in names]
        for bar in bars:
            for second in (0.0, 25.0, 60.0):
                bar.tick(second)
            bar.end()
    return err.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_pipe_gets_a_line_a_run() -> None:
    assert told(*NAMES) == ("[1/2] round_robin: 50 simulated seconds\n[2/2] jffc, seed 2: 50 simulated seconds\n")
    assert told("jffc") == "jffc: 50 simulated seconds\n"


def test_a_terminal_gets_a_bar_with_its_speed() -> None:
    text = told("jffc", force_terminal=True)
    assert "50 of 50 s" in text
    assert " s/s" in text
    assert WHOLE not in text


def test_of_many_runs_the_bar_that_stays_is_the_one_of_all() -> None:
    last = told(*NAMES, force_terminal=True).split(WHOLE)[-1]
    assert "100 of 100 s" in last
    assert "jffc" not in last
