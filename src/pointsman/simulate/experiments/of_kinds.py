"""Figures of each kind of clients, by the names an experiment gives them: `FIGURE of KIND`."""

from collections.abc import Iterator

from pointsman.sim.by_clients import mean_by_clients
from pointsman.sim.statistics import bootstrap
from pointsman.simulate.experiments.figures import OF, OF_KINDS
from pointsman.simulate.standing import PolicyRuns


def means_of_kinds(result: PolicyRuns) -> dict[str, float | None]:
    """Over the seeds."""
    kinds = mean_by_clients([run.clients for run in result.runs])
    return {f"{name}{OF}{kind.name}": getattr(kind, name) for kind in kinds for name in OF_KINDS}


def intervals_of_kinds(result: PolicyRuns) -> dict[str, list[float]]:
    """Of each figure that all seeds have."""
    found = {}
    for name, values in _by_name(result):
        span = bootstrap([value for value in values if value is not None]) if None not in values else None
        if span is not None:
            found[name] = [span.low, span.high]
    return found


def _by_name(result: PolicyRuns) -> Iterator[tuple[str, list[float | None]]]:
    for kinds in zip(*(run.clients for run in result.runs), strict=True):
        for name in OF_KINDS:
            yield f"{name}{OF}{kinds[0].name}", [getattr(kind, name) for kind in kinds]
