"""How far the simulation is, and how fast: bars on a terminal, a line a run in logs and pipes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

WHOLE = "all runs"


class Bar(Protocol):
    """One run on its way."""

    def tick(self, second: float) -> None:
        """It has reached that simulated second."""

    def end(self) -> None:
        """It is done."""


Begin = Callable[[str], Bar]
"""Announces a run by its name."""


@contextmanager
def progress(seconds: float, runs: int, err: Console) -> Iterator[Begin]:
    """What to announce so many runs of `seconds` to, several at a time or one after the other."""
    if not err.is_terminal:
        lines = _Lines(seconds, runs, err)
        yield lines.begin
        return
    columns = (
        TextColumn("{task.description:<32}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} s"),
        _Speed(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err) as display:
        whole = display.add_task(WHOLE, total=seconds * runs) if runs > 1 else None
        yield lambda name: _Shown(display, name, seconds, whole)


class _Shown:
    """A bar, and its part of the one for all runs; of many runs, only those on their way are shown."""

    def __init__(self, display: Progress, name: str, seconds: float, whole: TaskID | None) -> None:
        self._display = display
        self._seconds = seconds
        self._whole = whole
        self._reached = 0.0
        self._own = display.add_task(name, total=seconds)

    def tick(self, second: float) -> None:
        reached = min(max(second, self._reached), self._seconds)
        if self._whole is not None:
            self._display.advance(self._whole, reached - self._reached)
        self._reached = reached
        self._display.update(self._own, completed=reached)

    def end(self) -> None:
        self.tick(self._seconds)
        if self._whole is not None:
            self._display.remove_task(self._own)


class _Speed(ProgressColumn):
    """Simulated seconds per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} s/s")


class _Lines:
    """A line as each run begins."""

    def __init__(self, seconds: float, runs: int, err: Console) -> None:
        self._seconds = seconds
        self._runs = runs
        self._err = err
        self._begun = 0

    def begin(self, name: str) -> Bar:
        self._begun += 1
        place = f"[{self._begun}/{self._runs}] " if self._runs > 1 else ""
        text = f"{place}{name}: {self._seconds:.0f} simulated seconds"
        self._err.print(text, markup=False, highlight=False, soft_wrap=True)
        return _Untold()


class _Untold:
    """A run of which nobody is told more."""

    def tick(self, second: float) -> None:
        pass

    def end(self) -> None:
        pass
