"""What a round of the demonstration is told by: the figures of every comparison, and those of memory."""

from collections.abc import Mapping, Sequence

import msgspec

from pointsman.observe.columns import SUCCESS, Column, named
from pointsman.observe.comparison import Figures, Sample, Window, figures_of
from pointsman.observe.sampled import Sampled, quantile
from pointsman.sim.summary import Slo

MEMORY_COLUMNS = (
    Column(("pre-", "empted"), "", named("preemptions"), ".0f", "lower"),
    SUCCESS,
    Column(("good-", "put"), "per s", named("goodput_rps"), ".3f", "higher"),
    Column(("in", "SLO"), "%", named("in_slo", 100), ".1f", "higher"),
    Column(("TTFT", "mean"), "s", named("ttft_mean_s"), ".2f", "lower"),
    Column(("TTFT", "P99"), "s", named("ttft_p99_s"), ".1f", "lower"),
    Column(("TPOT", "P99"), "ms", named("tpot_p99_s", 1000), ".0f", "lower"),
    Column(("token", "hits"), "%", named("hit_ratio", 100), ".1f", "higher"),
)


class DemoFigures(Figures, frozen=True):
    """`in_slo`: share of the requests sent in the window that were answered in time, `goodput_rps` those per second.

    `tpot_p99_s`: seconds per output token. `preemptions`: streams that engines put back, over the whole run.
    """

    tpot_p99_s: float | None
    in_slo: float | None
    goodput_rps: float
    preemptions: int


def figures(
    name: str, samples: Sequence[Sample], window: Window, capacity: Mapping[str, float], preemptions: int = 0
) -> DemoFigures:
    """The figures of a round, judged by the objective that simulations have when nothing else is said."""
    rows = Sampled.of(samples, list(capacity))
    base = figures_of(name, rows, window, list(capacity.values()))
    sent = rows.only(rows.sent_in(window))
    good = Slo().met(sent)
    return DemoFigures(
        **msgspec.structs.asdict(base),
        tpot_p99_s=quantile(sent.tpot_s, 0.99),
        in_slo=float(good.mean()) if len(sent) else None,
        goodput_rps=int(good.sum()) / window.seconds,
        preemptions=preemptions,
    )
