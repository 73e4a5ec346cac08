"""How far the comparison is, told to people and to logs."""

import io

from rich.console import Console

from pointsman.demo.progress import progress


def told(**terminal):
    err = Console(file=io.StringIO(), width=100, **terminal)
    with progress(("round_robin", "jffc"), 50.0, err) as tick:
        for policy in ("round_robin", "jffc"):
            for second in (1.0, 50.0):
                tick(policy, second)
    return err.file.getvalue()


def test_a_pipe_gets_a_line_when_a_policys_turn_begins():
    assert told() == "round_robin: 1 of 2, 50 engine seconds\njffc: 2 of 2, 50 engine seconds\n"


def test_a_terminal_gets_a_bar_a_policy():
    assert "50 of 50 engine seconds" in told(force_terminal=True)
