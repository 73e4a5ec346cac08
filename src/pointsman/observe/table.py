"""A comparison as a table for people."""

from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from .comparison import Figures

Column = tuple[str, Callable[[Figures], float | None], str]  # heading, figure, format
COLUMNS: tuple[Column, ...] = (
    ("through-\nput\nper s", lambda f: f.throughput_rps, ".2f"),
    ("success\n\n%", lambda f: _percent(f.success), ".1f"),
    ("TTFT\nmean\ns", lambda f: f.ttft_mean_s, ".2f"),
    ("TTFT\nP50\ns", lambda f: f.ttft_p50_s, ".2f"),
    ("TTFT\nP99\ns", lambda f: f.ttft_p99_s, ".2f"),
    ("TPOT\nmean\nms", lambda f: None if f.tpot_mean_s is None else 1000 * f.tpot_mean_s, ".1f"),
    ("token\nhits\n%", lambda f: _percent(f.hit_ratio), ".1f"),
    ("imba-\nlance\nCV", lambda f: f.imbalance, ".2f"),
)


def comparison_table(rows: Sequence[Figures], *, title: str, caption: str) -> Table:
    """One row a policy, in the order given. Fits into 80 columns when no policy's name is longer than 20."""
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
    for heading, _, _ in COLUMNS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.name, *(cell(row, column) for column in COLUMNS))
    return table


def cell(row: Figures, column: Column) -> str:
    """What stands in that column; a figure nobody measured is a dash."""
    _, figure, form = column
    value = figure(row)
    return "–" if value is None else format(value, form)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
