"""How policies stand beside each other: means over seeds, their intervals, and who is best or ties with it."""

from collections.abc import Sequence

import msgspec

from pointsman.observe.columns import SUCCESS, Cell, Column, Row, best, cell, named
from pointsman.sim.statistics import Interval, bootstrap
from pointsman.sim.summary import Summary, mean_of
from pointsman.simulate.cases import Measured

GOODPUT = Column(("good-", "put"), "/s", named("goodput_rps"), ".2f", "higher")
IN_SLO = Column(("in", "SLO"), "%", named("in_slo", 100), ".1f", "higher")
TTFT_MEAN = Column(("TTFT", "mean"), "s", named("ttft_mean_s"), ".2f", "lower")
TTFT_P99 = Column(("TTFT", "P99"), "s", named("ttft_p99_s"), ".2f", "lower")
TPOT_P99 = Column(("TPOT", "P99"), "ms", named("tpot_p99_s", 1000), ".0f", "lower")
E2E_P50 = Column(("E2E", "P50"), "s", named("e2e_p50_s"), ".1f", "lower")
E2E_P99 = Column(("E2E", "P99"), "s", named("e2e_p99_s"), ".0f", "lower")
HITS = Column(("hits", ""), "%", named("hit_ratio", 100), ".0f", "higher")
BUSY = Column(("busy", ""), "%", named("busy", 100), ".0f")

FEW = (SUCCESS, IN_SLO, GOODPUT, TTFT_MEAN, TTFT_P99, TPOT_P99, E2E_P99, HITS, BUSY)
"""What fits into 80 characters."""

MANY = (
    SUCCESS,
    IN_SLO,
    GOODPUT,
    Column(("through-", "put"), "/s", named("throughput_rps"), ".2f", "higher"),
    TTFT_MEAN,
    Column(("TTFT", "P50"), "s", named("ttft_p50_s"), ".2f", "lower"),
    Column(("TTFT", "P90"), "s", named("ttft_p90_s"), ".2f", "lower"),
    TTFT_P99,
    Column(("TTFT P99,", "longest 10 %"), "s", named("ttft_longest_p99_s"), ".2f", "lower"),
    Column(("TPOT", "mean"), "ms", named("tpot_mean_s", 1000), ".1f", "lower"),
    TPOT_P99,
    Column(("worst gap,", "mean"), "ms", named("gap_mean_s", 1000), ".0f", "lower"),
    Column(("worst gap,", "P99"), "ms", named("gap_p99_s", 1000), ".0f", "lower"),
    Column(("E2E", "mean"), "s", named("e2e_mean_s"), ".2f", "lower"),
    E2E_P50,
    E2E_P99,
    Column(("slow-", "down"), "×", named("slowdown_mean"), ".2f", "lower"),
    Column(("wait", "mean"), "ms", named("wait_mean_s", 1000), ".0f", "lower"),
    Column(("wait", "P99"), "ms", named("wait_p99_s", 1000), ".0f", "lower"),
    Column(("long", "dialogues"), "%", named("long_dialogues", 100), ".1f", "higher"),
    HITS,
    Column(("node time", "per token"), "ms", named("node_ms_per_token"), ".2f", "lower"),
    BUSY,
    Column(("work", "imbalance"), "CV", named("imbalance"), ".2f"),
    Column(("in flight,", "spread"), "sd", named("in_flight_sd"), ".1f"),
    Column(("in flight,", "spread"), "CV", named("in_flight_cv"), ".2f"),
    Column(("pre-", "emptions"), "", named("preemptions"), ".0f", "lower"),
    Column(("evic-", "tions"), "blocks", named("evictions"), ".0f"),
    Column(("for-", "wards"), "", named("forwards"), ".0f"),
    Column(("re-", "tries"), "", named("retries"), ".0f", "lower"),
    Column(("inter-", "ruptions"), "", named("interruptions"), ".0f", "lower"),
)
"""Everything a comparison tells of a policy in one number."""


class PolicyRuns(msgspec.Struct, frozen=True):
    """The runs of one policy, one a seed."""

    name: str
    runs: tuple[Measured, ...]

    def mean(self) -> Summary:
        """Over the seeds."""
        return mean_of([run.summary for run in self.runs])

    def interval(self, column: Column) -> Interval | None:
        """Of the mean; None where one seed has none, or there is only one."""
        values = [column.figure(run.summary) for run in self.runs]
        return bootstrap([value for value in values if value is not None]) if None not in values else None

    def alike(self, other: "PolicyRuns", column: Column) -> bool:
        """Whether the mean difference may be none. Seed by seed: both had the same requests, so what was hard for one
        was hard for the other, and says nothing of which is better."""
        pairs = [
            (column.figure(a.summary), column.figure(b.summary)) for a, b in zip(self.runs, other.runs, strict=True)
        ]
        span = bootstrap([a - b for a, b in pairs if a is not None and b is not None])
        return span is not None and span.holds(0.0)


def by_policy(policies: Sequence[str], found: Sequence[Measured]) -> list[PolicyRuns]:
    """Results of `cases_of`, in which the policies of a seed stand together, put in order by policy."""
    return [PolicyRuns(name, tuple(found[place :: len(policies)])) for place, name in enumerate(policies)]


def standing(results: Sequence[PolicyRuns], columns: Sequence[Column], *, ends: bool = False) -> list[Row]:
    """A row a policy: means, marked where best; intervals as ± half their width, or as both `ends`."""
    means = [result.mean() for result in results]
    winners = [winners_of(results, column) for column in columns]
    return [
        Row(
            result.name,
            tuple(
                Cell(cell(row, column), row.name in names, _span(result.interval(column), column, ends))
                for column, names in zip(columns, winners, strict=True)
            ),
        )
        for result, row in zip(results, means, strict=True)
    ]


def winners_of(results: Sequence[PolicyRuns], column: Column) -> frozenset[str]:
    """The best of a column and whoever ties with it."""
    named = {result.name: result for result in results}
    means = [result.mean() for result in results]
    return best(means, column, lambda one, other: named[one].alike(named[other], column))


def _span(span: Interval | None, column: Column, ends: bool) -> str:
    if span is None:
        return ""
    if ends:
        return f"{span.low:{column.form}} – {span.high:{column.form}}"
    return f"±{(span.high - span.low) / 2:{column.form}}"
