"""How far the simulation is, told to people and to logs."""

import io

from rich.console import Console

from pointsman.simulate.progress import progress


def told(**terminal: bool) -> str:
    err = Console(file=io.StringIO(), width=120, **terminal)  # type: ignore[arg-type]
    with progress(50.0, err) as begin:
        for name in ("round_robin", "jffc, seed 2"):
            tick = begin(name)
            for second in (0.0, 25.0, 60.0):
                tick(second)
    return err.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_pipe_gets_a_line_a_run() -> None:
    assert told() == "round_robin: 50 simulated seconds\njffc, seed 2: 50 simulated seconds\n"


def test_a_terminal_gets_a_bar_a_run_with_its_speed() -> None:
    assert "50 of 50 s" in told(force_terminal=True)
    assert " s/s" in told(force_terminal=True)
