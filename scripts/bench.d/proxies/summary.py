"""From the runs of a comparison to its figures: medians, ratios to the first row, a table and a JSON value."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.table import Table


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement of one proxy."""

    us_per_request: float
    us_per_chunk: float
    added_ms: float
    rss_mb: float


FIGURES = tuple(Run.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Row:
    """A proxy's runs, at least one."""

    name: str
    runs: Sequence[Run]

    def median(self, figure: str) -> float:
        return float(median(getattr(run, figure) for run in self.runs))


def as_json(rows: Sequence[Row], backend: Row, skipped: dict[str, str], build: str) -> dict[str, Any]:
    """`proxies` in the order of the table, each with its medians and the runs behind them; `build` is how ours ran."""
    return {"build": build, "proxies": [_values(row) for row in rows], "backend": _values(backend), "skipped": skipped}


def _values(row: Row) -> dict[str, Any]:
    medians = {figure: round(row.median(figure), 3) for figure in FIGURES}
    return {"name": row.name, **medians, "runs": [asdict(run) for run in row.runs]}


def as_table(rows: Sequence[Row], backend: Row, build: str) -> Table:
    """The medians, and each CPU figure as a multiple of the first row's."""
    caption = (
        f"CPU of the proxy alone; × is against {rows[0].name}. The backend itself takes "
        f"{backend.median('us_per_request'):.1f} µs per request and {backend.median('us_per_chunk'):.1f} µs per chunk. "
        f"Pointsman ran {build}."
    )
    table = Table(title="What relaying costs", caption=caption, caption_justify="left")
    table.add_column("proxy", no_wrap=True)
    for heading in ("µs/request", "×", "µs/chunk", "×", "added ms", "resident MB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row, rows[0]))
    return table


def _cells(row: Row, first: Row) -> list[str]:
    cells = [row.name]
    for figure in ("us_per_request", "us_per_chunk"):
        value = row.median(figure)
        cells += [f"{value:.1f}", f"{ratio(value, first.median(figure)):.2f}"]
    return [*cells, f"{row.median('added_ms'):.3f}", f"{row.median('rss_mb'):.0f}"]


def ratio(value: float, reference: float) -> float:
    """`value` as a multiple of `reference`; not a number where there is nothing to compare with."""
    return value / reference if reference > 0 else float("nan")
