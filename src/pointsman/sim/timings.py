"""What a recording tells of engines' timing: for each node, what was sent there when, and how long it took.

Where engines told how much of a prompt they found cached, exactly that is to be found again, whatever the hashes of
the gateway could tell: such a prompt begins with so much of a chain that is always there. Otherwise the recorded
prefixes decide.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from pointsman.engine.virtual import Sample
from pointsman.workload.blocks import answered_runs, fitted
from pointsman.workload.recording import paired
from pointsman.workload.recording_line import Recorded
from pointsman.workload.rows import TraceRow
from pointsman.workload.runs import ids_of

LEAST_TOKENS = 8
"""Of an answer whose time per token is looked at: shorter ones are mostly their chunks' timing."""
OTHERS = 1 << 40
"""Above the hashes of the common chain."""
EARLIER_S = 3600.0
"""Before the first request, when the common chain is computed."""


class Timed(msgspec.Struct, frozen=True):
    """A request on a node: its first token came `ttft_s` after it was sent there, each further one after `tpot_s`.

    `at_s` counts from the recording's first request; `fresh_tokens` of the prompt were not cached. None where the
    recording does not tell.
    """

    at_s: float
    sample: Sample
    fresh_tokens: int
    ttft_s: float | None = None
    tpot_s: float | None = None


def timings(lines: Iterable[Recorded], block_tokens: int, most_tokens: int) -> dict[str, list[Timed]]:
    """By node, its requests in the order in which they were sent there.

    Left out is what no node worked on to an end, as nobody knows how long it did; what exceeds `most_tokens` is
    clipped.
    """
    found: dict[str, list[Timed]] = {}
    for number, (line, row) in enumerate(paired(lines)):
        if line.outcome == "ok" and line.node and line.output_length:
            fit = fitted(row, most_tokens)
            hashes = _hashes(line, fit, number, block_tokens)
            found.setdefault(line.node, []).append(_timed(line, fit, hashes))
    return {node: _with_common_chain(timed, block_tokens) for node, timed in sorted(found.items())}


def _timed(line: Recorded, row: TraceRow, hashes: tuple[int, ...]) -> Timed:
    waited = (line.wait_ms or 0.0) / 1000
    return Timed(
        row.arrival_s + waited,
        Sample(row.prompt_tokens, row.output_tokens, hashes),
        row.prompt_tokens - min(line.cached_length or 0, row.prompt_tokens),
        _ttft(line),
        _tpot(line),
    )


def _hashes(line: Recorded, row: TraceRow, number: int, block_tokens: int) -> tuple[int, ...]:
    if line.cached_length is None:
        return tuple(OTHERS + block for block in ids_of(answered_runs(row, number, block_tokens)))
    return tuple(range(min(line.cached_length, row.prompt_tokens - 1) // block_tokens))


def _with_common_chain(timed: list[Timed], block_tokens: int) -> list[Timed]:
    """In order of sending, after a request that leaves the longest common chain in the cache."""
    blocks = max(len(one.sample.hashes) for one in timed)
    primer = Sample(blocks * block_tokens + 1, 1, tuple(range(blocks)))
    begin = min(one.at_s for one in timed) - EARLIER_S
    return [Timed(begin, primer, primer.prompt_tokens), *sorted(timed, key=lambda one: one.at_s)]


def _ttft(line: Recorded) -> float | None:
    """From the sending to the node."""
    return None if line.ttft_ms is None else max(0.0, line.ttft_ms - (line.wait_ms or 0.0)) / 1000


def _tpot(line: Recorded) -> float | None:
    if line.ttft_ms is None or line.total_ms is None or line.output_length < LEAST_TOKENS:
        return None
    return (line.total_ms - line.ttft_ms) / 1000 / (line.output_length - 1)


def leading(nodes: Mapping[str, list[Timed]], requests: int) -> dict[str, list[Timed]]:
    """The first requests of each node; what ran beside ones that are left out says nothing any more."""
    return {node: _leading(timed, requests + 1) for node, timed in nodes.items()}


def _leading(timed: list[Timed], count: int) -> list[Timed]:
    if len(timed) <= count:
        return timed
    until = timed[count].at_s
    return [one if _ended_s(one) <= until else replace(one, ttft_s=None, tpot_s=None) for one in timed[:count]]


def _ended_s(one: Timed) -> float:
    return one.at_s + (one.ttft_s or 0.0) + (one.tpot_s or 0.0) * (one.sample.output_tokens - 1)
