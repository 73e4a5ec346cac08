"""A comparison as a table for people."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from .columns import COLUMNS, TIE, Cell, Column, Row

BEST = "bold underline"
MARKS = f"Bold: the best of its column, or within {TIE:.0%} of it."


def comparison_table(rows: Sequence[Row], *, title: str, caption: str, columns: Sequence[Column] = COLUMNS) -> Table:
    """One row a policy, in the order given; the best of each column is bold and underlined where the terminal can.

    Intervals stand below their figures. The usual columns fit into 80 characters when no policy's name is longer than
    20.
    """
    table = Table(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        caption_style="dim",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("policy", no_wrap=True)
    for column in columns:
        table.add_column("\n".join((*column.heading, column.measure)), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.name, *(_shown(cell) for cell in row.cells))
    return table


def _shown(cell: Cell) -> Text:
    text = Text(cell.text, style=BEST if cell.best else "")
    return Text("\n").join((text, Text(cell.span, style="dim"))) if cell.span else text
