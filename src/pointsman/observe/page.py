"""What a report shows: the runs compared and what happened to the fleet meanwhile."""

import msgspec

from .columns import COLUMNS, Column
from .comparison import Figures, Sample, Window


class Run(msgspec.Struct, frozen=True):
    """One policy: its figures and every request behind them."""

    figures: Figures
    samples: tuple[Sample, ...]


class Disturbance(msgspec.Struct, frozen=True):
    """One node was not itself between two moments of every run (seconds)."""

    node: str
    start_s: float
    end_s: float


class Page(msgspec.Struct, frozen=True):
    """A report's content. Sentences: `caption` and `made` stand above the table, `findings` right below, `notes` last.

    `nodes`: in the order to show them; `seconds`: length of each run; `window`: what counted; `columns`: of
    the table.
    """

    title: str
    made: str
    caption: str
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    runs: tuple[Run, ...]
    nodes: tuple[str, ...]
    seconds: float
    window: Window
    disturbance: Disturbance | None = None
    columns: tuple[Column, ...] = COLUMNS
