"""The figures of a simulated run: those of every comparison, and what only a simulator knows."""

from collections.abc import Sequence

import msgspec
import numpy as np

from pointsman.observe.comparison import Figures, Window, figures_of
from pointsman.observe.sampled import Flags, Numbers, Sampled, mean, quantile
from pointsman.sim.alone import Alone
from pointsman.sim.occupancy import bins, in_flight, spread
from pointsman.sim.process import Counters
from pointsman.sim.record import Record
from pointsman.sim.recorded import Recorded
from pointsman.sim.two_tenants import Division

LONG_TURNS = 4
"""Turns from which on a dialogue is a long one."""
LENGTHS = 10
"""Groups of equal size, by length of prompt, whose slowdown is told."""
BALANCE_BINS = 100
"""Moments at which the balance over the nodes is looked at: means over a hundredth of the window."""


class Slo(msgspec.Struct, frozen=True):
    """What a request should get: its first token within `ttft_s`, then a token every `tpot_s` (seconds, on average)."""

    ttft_s: float = 5.0
    tpot_s: float = 0.1

    def met(self, samples: Sampled) -> Flags:
        """Which answers came in time; a plain one has the time that a stream would have had."""
        whole = self.ttft_s + self.tpot_s * np.maximum(0.0, samples.output_tokens - 1)
        streams = (samples.ttft_s <= self.ttft_s) & ~(samples.tpot_s > self.tpot_s)
        return samples.ok & np.where(samples.streamed, streams, samples.e2e_s <= whole)


class NodeFigures(msgspec.Struct, frozen=True):
    """What one node did over the whole run, its drain included; `evictions`: blocks that others' content replaced.

    `busy`: share of the measured window in steps; `window_tokens`: tokens generated in the window.
    """

    name: str
    requests: int
    hit_ratio: float | None
    generated_tokens: int
    preemptions: int
    evictions: int
    busy: float
    window_tokens: int


class Terms(msgspec.Struct, frozen=True):
    """How a run is judged. `capacity`: relative speed of each node over the run, one a node of `nodes`.

    `turns`: requests of each dialogue, as planned; `alone`: what each would take if nothing else were there.
    """

    window: Window
    slo: Slo
    nodes: tuple[str, ...]
    capacity: tuple[float, ...]
    alone: Alone
    turns: tuple[int, ...] = ()


class Summary(Figures, frozen=True):
    """What one policy achieved. Shares are of the requests sent in the window, tokens and seconds as in `Figures`.

    `in_slo`: share answered in time; `goodput_rps`: those per second. `e2e`: from sending to the end of answers
    that came. `gap`: longest time between two tokens of a stream, at its engine. `wait`: until sent to a node.
    `slowdown`: `e2e` over what the request would take alone on the fastest node; `slowdown_by_length`: the mean of
    each tenth, from the shortest prompts to the longest; `ttft_longest_p99_s`: of the last tenth, `ttft_shorter_p99_s`:
    of the other nine. `in_flight`: requests on a node, standard deviation and coefficient of variation over the nodes.
    `long_dialogues`: share of those with LONG_TURNS or more, begun in the window, of which no request failed. `busy`:
    mean share of the window nodes were in steps; `node_ms_per_token`: that time by tokens generated. `service_gap` and
    `lesser_share`: see `Division`, between two tenants. Counts of the whole run: `preemptions`, `evictions` (blocks),
    `forwards` (to where the cache is, against the score). Counts of requests sent in the window: `retries`, and
    `interruptions` after which they went on elsewhere.
    """

    ttft_p90_s: float | None
    ttft_longest_p99_s: float | None
    ttft_shorter_p99_s: float | None
    tpot_p50_s: float | None
    tpot_p99_s: float | None
    gap_mean_s: float | None
    gap_p99_s: float | None
    e2e_mean_s: float | None
    e2e_p50_s: float | None
    e2e_p99_s: float | None
    wait_mean_s: float | None
    wait_p99_s: float | None
    in_slo: float | None
    goodput_rps: float
    slowdown_mean: float | None
    slowdown_by_length: tuple[float, ...]
    in_flight_sd: float | None
    in_flight_cv: float | None
    long_dialogues: float | None
    busy: float
    node_ms_per_token: float | None
    service_gap: float | None
    lesser_share: float | None
    preemptions: float
    evictions: float
    forwards: float
    retries: float
    interruptions: float = 0.0


def summarized(
    name: str, records: Sequence[Record], terms: Terms, did: Sequence[NodeFigures], forwards: int = 0
) -> Summary:
    """The figures of the requests sent in the window."""
    rows = Recorded.of_records(records, terms.nodes)
    base = figures_of(name, rows, terms.window, terms.capacity)
    sent = rows.only(rows.sent_in(terms.window))
    good = terms.slo.met(sent)
    streams = sent.only(sent.streamed)
    longest = _longest(streams)
    e2e, slowdown = np.where(sent.ok, sent.e2e_s, np.nan), _slowdown(sent, terms.alone)
    deviation, variation = spread(_load(rows, terms))
    division = Division(records, terms.window)
    return Summary(
        **msgspec.structs.asdict(base),
        ttft_p90_s=quantile(streams.ttft_s, 0.90),
        ttft_longest_p99_s=quantile(streams.ttft_s[longest], 0.99),
        ttft_shorter_p99_s=quantile(streams.ttft_s[~longest], 0.99),
        tpot_p50_s=quantile(streams.tpot_s, 0.50),
        tpot_p99_s=quantile(streams.tpot_s, 0.99),
        gap_mean_s=mean(sent.gap_s),
        gap_p99_s=quantile(sent.gap_s, 0.99),
        e2e_mean_s=mean(e2e),
        e2e_p50_s=quantile(e2e, 0.50),
        e2e_p99_s=quantile(e2e, 0.99),
        wait_mean_s=mean(sent.waited_s),
        wait_p99_s=quantile(sent.waited_s, 0.99),
        in_slo=float(good.mean()) if len(sent) else None,
        goodput_rps=int(good.sum()) / terms.window.seconds,
        slowdown_mean=mean(slowdown),
        slowdown_by_length=_by_length(slowdown, sent.prompt_tokens),
        in_flight_sd=deviation,
        in_flight_cv=variation,
        long_dialogues=_completed(sent, terms.turns),
        busy=float(np.mean([node.busy for node in did])),
        node_ms_per_token=_node_ms(did, terms.window),
        service_gap=division.widest_gap(),
        lesser_share=division.lesser_share(),
        preemptions=sum(node.preemptions for node in did),
        evictions=sum(node.evictions for node in did),
        forwards=forwards,
        retries=int(np.maximum(0, sent.tries - 1 - sent.interruptions).sum()),
        interruptions=int(sent.interruptions.sum()),
    )


def mean_of(rows: Sequence[Summary]) -> Summary:
    """The mean over runs that differ in their seed alone; a figure that a run lacks is left out of its mean."""
    means = {field: _mean_field([getattr(row, field) for row in rows]) for field in Summary.__struct_fields__[1:]}
    requests = round(float(np.mean([row.requests for row in rows])))
    return msgspec.convert(means | {"name": rows[0].name, "requests": requests}, Summary)


def node_figures(name: str, total: Counters, before: Counters, after: Counters, seconds: float) -> NodeFigures:
    """A node's figures from its counters at the run's end and at both ends of a window of so many seconds."""
    return NodeFigures(
        name=name,
        requests=total.requests,
        hit_ratio=total.cached_tokens / total.prompt_tokens if total.prompt_tokens else None,
        generated_tokens=total.generated_tokens,
        preemptions=total.preemptions,
        evictions=total.evicted_blocks,
        busy=(after.busy_s - before.busy_s) / seconds,
        window_tokens=after.generated_tokens - before.generated_tokens,
    )


def _slowdown(sent: Recorded, alone: Alone) -> Numbers:
    """NaN for requests that were not answered."""
    return np.where(sent.ok, sent.e2e_s, np.nan) / alone(sent.prompt_tokens, sent.output_tokens)


def _by_length(values: Numbers, length: Numbers) -> tuple[float, ...]:
    """Means of equal groups by length; of fewer values than groups, none."""
    if len(values) < LENGTHS:
        return ()
    groups = np.array_split(values[np.argsort(length, kind="stable")], LENGTHS)
    means = [mean(group) for group in groups]
    return tuple(value for value in means if value is not None) if None not in means else ()


def _longest(streams: Recorded) -> Flags:
    """Which belong to the tenth with the longest prompts."""
    lengths = streams.prompt_tokens
    flags: Flags = lengths >= np.quantile(lengths, 1 - 1 / LENGTHS) if len(streams) else lengths > 0
    return flags


def _load(rows: Recorded, terms: Terms) -> Numbers:
    return in_flight(rows, rows.placed_s, bins(terms.window, BALANCE_BINS), len(terms.nodes))


def _completed(sent: Recorded, turns: Sequence[int]) -> float | None:
    planned = np.array([*turns, 0])  # what a dialogue that nobody planned has
    long = planned[np.minimum(sent.dialogue, len(turns))] >= LONG_TURNS
    begun = np.unique(sent.dialogue[long])
    broken = np.unique(sent.dialogue[long & ~sent.ok])
    return 1 - len(broken) / len(begun) if len(begun) else None


def _node_ms(did: Sequence[NodeFigures], window: Window) -> float | None:
    tokens = sum(node.window_tokens for node in did)
    return 1000 * window.seconds * sum(node.busy for node in did) / tokens if tokens else None


def _mean_field(values: Sequence[float | tuple[float, ...] | None]) -> float | tuple[float, ...] | None:
    known = [value for value in values if value is not None and value != ()]
    if not known:
        return () if values and values[0] == () else None
    averaged = np.mean(known, axis=0)
    return tuple(averaged.tolist()) if averaged.ndim else float(averaged)
