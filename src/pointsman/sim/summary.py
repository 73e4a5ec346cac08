"""The figures of a simulated run: those of every comparison, and what only a simulator knows."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from pointsman.observe.comparison import Figures, Sample, Window, figures
from pointsman.sim.node import Counters


class Slo(msgspec.Struct, frozen=True):
    """What a request should get: its first token within `ttft_s`, then a token every `tpot_s` (seconds, on average)."""

    ttft_s: float = 5.0
    tpot_s: float = 0.1

    def met(self, sample: Sample) -> bool:
        """Whether the answer came in time; a plain one has the time that a stream would have had."""
        if not sample.ok:
            return False
        if not sample.streamed:
            return sample.done_s - sample.sent_s <= self.ttft_s + self.tpot_s * max(0, sample.output_tokens - 1)
        return sample.ttft_s <= self.ttft_s and (sample.tpot_s or 0.0) <= self.tpot_s


class NodeFigures(msgspec.Struct, frozen=True):
    """What one node did over the whole run, its drain included; `busy`: share of the measured window in steps."""

    name: str
    requests: int
    hit_ratio: float | None
    generated_tokens: int
    preemptions: int
    busy: float


class Summary(Figures, frozen=True):
    """What one policy achieved. `e2e`: seconds from sending to the end of answers that came; `in_slo`: share of all
    requests sent; `goodput_rps`: those per second of the window. `busy`: mean share of the window nodes were in steps.
    """

    ttft_p90_s: float | None
    tpot_p50_s: float | None
    tpot_p99_s: float | None
    e2e_mean_s: float | None
    e2e_p50_s: float | None
    e2e_p99_s: float | None
    in_slo: float | None
    goodput_rps: float
    busy: float
    preemptions: float


def summarized(
    name: str,
    samples: Sequence[Sample],
    window: Window,
    slo: Slo,
    capacity: Mapping[str, float],
    did: Sequence[NodeFigures],
) -> Summary:
    """The figures of the requests sent in the window. `capacity`: relative speed of each node over the run."""
    base = figures(name, samples, window, capacity)
    sent = [sample for sample in samples if window.holds(sample.sent_s)]
    ttft = np.array([sample.ttft_s for sample in sent if sample.streamed])
    tpot = np.array([tpot for sample in sent if sample.streamed and (tpot := sample.tpot_s) is not None])
    e2e = np.array([sample.done_s - sample.sent_s for sample in sent if sample.ok])
    good = sum(slo.met(sample) for sample in sent)
    return Summary(
        **msgspec.structs.asdict(base),
        ttft_p90_s=_quantile(ttft, 0.90),
        tpot_p50_s=_quantile(tpot, 0.50),
        tpot_p99_s=_quantile(tpot, 0.99),
        e2e_mean_s=float(e2e.mean()) if e2e.size else None,
        e2e_p50_s=_quantile(e2e, 0.50),
        e2e_p99_s=_quantile(e2e, 0.99),
        in_slo=good / len(sent) if sent else None,
        goodput_rps=good / window.seconds,
        busy=float(np.mean([node.busy for node in did])),
        preemptions=sum(node.preemptions for node in did),
    )


def mean_of(rows: Sequence[Summary]) -> Summary:
    """The mean over runs that differ in their seed alone; a figure that a run lacks is left out of its mean."""
    means = {
        field: _mean([value for row in rows if (value := getattr(row, field)) is not None])
        for field in Summary.__struct_fields__
        if field != "name"
    }
    return msgspec.convert({"name": rows[0].name, **means, "requests": round(means["requests"] or 0)}, Summary)


def node_figures(name: str, total: Counters, busy: float) -> NodeFigures:
    """A node's figures from its counters at the end."""
    return NodeFigures(
        name=name,
        requests=total.requests,
        hit_ratio=total.cached_tokens / total.prompt_tokens if total.prompt_tokens else None,
        generated_tokens=total.generated_tokens,
        preemptions=total.preemptions,
        busy=busy,
    )


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    return float(np.quantile(values, share)) if values.size else None
