"""The table of what each kind of clients got under each policy."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from pointsman.sim.by_clients import ClientFigures, mean_by_clients
from pointsman.simulate.standing import PolicyRuns

HEADINGS = ("sent", "ok\n%", "in SLO\n%", "TTFT\nP50 s", "TTFT\nP99 s", "E2E\nP99 s")


def client_table(results: Sequence[PolicyRuns]) -> Table | None:
    """A row for each kind and policy, means over seeds; None where there is one kind of clients."""
    if len(results[0].runs[0].clients) < 2:
        return None
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("clients", no_wrap=True)
    table.add_column("policy", no_wrap=True)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    means = [(result.name, mean_by_clients([run.clients for run in result.runs])) for result in results]
    for place, kind in enumerate(means[0][1]):
        for policy, kinds in means:
            table.add_row(kind.name, policy, *_cells(kinds[place]), end_section=policy == means[-1][0])
    return table


def _cells(one: ClientFigures) -> list[str]:
    def cell(value: float | None, form: str, scale: float = 1.0) -> str:
        return "–" if value is None else format(scale * value, form)

    return [
        f"{one.requests:.0f}",
        cell(one.success, ".1f", 100),
        cell(one.in_slo, ".1f", 100),
        cell(one.ttft_p50_s, ".2f"),
        cell(one.ttft_p99_s, ".2f"),
        cell(one.e2e_p99_s, ".1f"),
    ]
