"""What a scene says in the end: tables for people, JSON for machines, and claims that decide the exit status."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

WIDTH = 110
_VERDICTS = {True: "[green]holds[/]", False: "[red]FAILS[/]"}


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that must hold, whether it did, and what was measured."""

    claim: str
    held: bool
    measured: str


@dataclass(slots=True)
class Figures:
    """A table: every row has one value per column."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """Collects; `show` prints and gives the exit status. `settings` say how the scene was run."""

    scene: str
    settings: dict[str, Any]
    tables: list[Figures] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def table(self, title: str, *columns: str) -> Figures:
        """A new table, to be filled."""
        self.tables.append(Figures(title, columns))
        return self.tables[-1]

    def claim(self, claim: str, held: bool, measured: object) -> None:
        self.claims.append(Claim(claim, bool(held), str(measured)))

    @property
    def held(self) -> bool:
        return bool(self.claims) and all(claim.held for claim in self.claims)

    def show(self, as_json: bool) -> int:
        if as_json:
            print(json.dumps(self._document(), indent=1, default=str))
        else:
            self._print(Console(width=None if sys.stdout.isatty() else WIDTH))
        return 0 if self.held else 1

    def _document(self) -> dict[str, Any]:
        tables = {each.title: [dict(zip(each.columns, row, strict=True)) for row in each.rows] for each in self.tables}
        claims = [asdict(claim) for claim in self.claims]
        return {"scene": self.scene, "held": self.held, "settings": self.settings, "tables": tables, "claims": claims}

    def _print(self, console: Console) -> None:
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items() if value is not None)
        console.print(f"[bold]{self.scene}[/bold]: {settings}", highlight=False)
        for figures in self.tables:
            console.print(_table(figures.title, figures.columns, figures.rows))
        rows = [(_VERDICTS[each.held], each.claim, each.measured) for each in self.claims]
        console.print(_table("claims", ("", "what must hold", "measured"), rows))


class Steps:
    """A progress bar on stderr, where that is a terminal: `say` what is being done and how much of it is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=1.0)

    def say(self, what: str, share: float | None = None) -> None:
        """`share` of the present step is done (0..1); None when that is not known."""
        self._progress.update(self._task, description=what, completed=share or 0.0, total=None if share is None else 1)


@contextmanager
def steps() -> Iterator[Steps]:
    """The bar lives as long as the block."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Steps(progress)


def quantiles(values: Sequence[float], *shares: float) -> list[float]:
    """The values that these shares do not exceed, by nearest rank; zeros where there are none."""
    ordered = sorted(values) or [0.0]
    return [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in shares]


def ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(str, row))
    return table
