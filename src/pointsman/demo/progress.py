"""How far the comparison is: bars on a terminal, lines in logs and pipes."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from .run import Tick


def progress(policies: Sequence[str], seconds: float, err: Console) -> AbstractContextManager[Tick]:
    """What to call with a policy and how many of its `seconds` (engine seconds) have passed."""
    return _bars(policies, seconds, err) if err.is_terminal else _lines(policies, seconds, err)


@contextmanager
def _bars(policies: Sequence[str], seconds: float, err: Console) -> Iterator[Tick]:
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} engine seconds"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err) as display:
        bars = {policy: display.add_task(policy, total=seconds, start=False) for policy in policies}

        def tick(policy: str, engine_second: float) -> None:
            display.start_task(bars[policy])
            display.update(bars[policy], completed=engine_second)

        yield tick


@contextmanager
def _lines(policies: Sequence[str], seconds: float, err: Console) -> Iterator[Tick]:
    """One line when a policy's turn begins."""
    begun: list[str] = []

    def tick(policy: str, _: float) -> None:
        if policy not in begun:
            begun.append(policy)
            turn = f"{policy}: {len(begun)} of {len(policies)}, {seconds:.0f} engine seconds"
            err.print(turn, markup=False, highlight=False)

    yield tick
