"""How far the simulation is, and how fast: bars on a terminal, a line a run in logs and pipes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

Begin = Callable[[str], Callable[[float], None]]
"""Announces a run by its name; what it returns is to be told the simulated second."""


@contextmanager
def progress(seconds: float, err: Console) -> Iterator[Begin]:
    """What to announce runs of `seconds` to, one after the other."""
    if not err.is_terminal:
        yield lambda name: _line(name, seconds, err)
        return
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
        _Speed(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err) as display:

        def begin(name: str) -> Callable[[float], None]:
            bar = display.add_task(name, total=seconds)
            return lambda second: display.update(bar, completed=min(second, seconds))

        yield begin


class _Speed(ProgressColumn):
    """Simulated seconds per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} s/s")


def _line(name: str, seconds: float, err: Console) -> Callable[[float], None]:
    err.print(f"{name}: {seconds:.0f} simulated seconds", markup=False, highlight=False)
    return lambda _second: None
