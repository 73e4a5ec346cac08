"""An engine on a virtual clock: what a stream of requests costs it, as fast as this machine computes."""

from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from pointsman.engine.core import StepResult
from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence as EngineSequence
from pointsman.workload.runs import runs_of


class Sample(msgspec.Struct, frozen=True):
    """One request: its size in tokens and the chained hashes (≥ 0) of its prompt's full blocks."""

    prompt_tokens: int
    output_tokens: int
    hashes: Sequence[int] = ()


class Served(msgspec.Struct, frozen=True):
    """When a request arrived, got its first token and was finished, in seconds, and how much of it was cached."""

    sample: Sample
    arrival: float
    first_token: float
    finish: float
    cached_tokens: int

    @property
    def ttft(self) -> float:
        return self.first_token - self.arrival

    @property
    def tpot(self) -> float:
        """Mean seconds per output token after the first; 0 for answers of one token."""
        return (self.finish - self.first_token) / max(1, self.sample.output_tokens - 1)


def run(profile: EngineProfile, arrivals: Iterable[tuple[float, Sample]], *, exact: bool = False) -> list[Served]:
    """Serve `arrivals`, (second, sample) in order of time, on one fresh engine; the results in the order of arrival.

    With `exact` it takes step after step, to the same end.

    Raises ValueError for a sample that could never fit the engine's KV cache.
    """
    timeline = profile.timeline(_ignore, exact=exact)
    served: list[tuple[float, Sample, EngineSequence]] = []
    for now, sample in arrivals:
        timeline.advance(now)
        runs = runs_of(sample.hashes)
        sequence = EngineSequence(str(len(served)), sample.prompt_tokens, sample.output_tokens, runs=runs)
        timeline.submit(sequence, now)
        served.append((now, sample, sequence))
    timeline.advance(inf)
    return [_served(*entry) for entry in served]


def saturation_rps(profile: EngineProfile, samples: Sequence[Sample]) -> float:
    """Requests per second one engine finishes under permanent backlog: its capacity for this mixture of requests.

    All samples arrive at once. Counted is the time from the end of the first tenth, when the batch has filled, until
    the last sample is admitted, when the backlog ends; a sample too small for that is counted as a whole.
    Raises ValueError for no samples at all.
    """
    if not samples:
        raise ValueError("saturation needs at least one sample")
    served = run(profile, ((0.0, sample) for sample in samples))
    finishes = sorted(result.finish for result in served)
    begin = finishes[len(finishes) // 10]
    end = max(result.first_token for result in served)
    counted = sum(begin < finish <= end for finish in finishes)
    if counted < max(1, len(samples) // 3):
        return len(samples) / finishes[-1]
    return counted / (end - begin)


def _ignore(_now: float, _result: StepResult) -> None:
    """Nobody listens to single tokens here."""


def _served(arrival: float, sample: Sample, sequence: EngineSequence) -> Served:
    finished, first = sequence.finished_at, sequence.first_token_at
    assert finished is not None
    assert first is not None
    return Served(sample, arrival, first, finished, sequence.cached_tokens)
