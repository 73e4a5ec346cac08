"""The step time against public measurements: vLLM 0.15.1 on H100, 2,048 batched tokens, 128 sequences.

A load point is a rate of equal requests and the mean TTFT and TPOT they met, TPOT = (E2E - TTFT) / (answer - 1). The
runs carried recurring system prompts, so most of each prompt was cached; how much is not published and assumed here.
Two predictions are made of each. The conditioned one takes the number of running sequences from the measurement itself,
rate x E2E (Little's law), and asks how long a step is that also prefills what arrives while it lasts: so an error is
the step time's own, not one of a queue that it set off. The simulated one knows rate and sizes only.

The API server's time before scheduling is no part of a step. It is one constant for all points, fitted as the median of
what the first half leaves unexplained of TTFT; errors are reported for the other half.
"""

from collections.abc import Iterable, Sequence
from statistics import mean, median

import msgspec
import numpy as np

from pointsman.brain.costs.hardware import H100
from pointsman.brain.costs.models import MODELS
from pointsman.brain.costs.step_time import Roofline, step_seconds
from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import Sample, run

SHARED = 0.8
"""Share of each prompt that is assumed to be found in the cache."""
_FIXED_POINT_ROUNDS = 50
_BLOCK = 16


class LoadPoint(msgspec.Struct, frozen=True):
    """Requests a second, mean tokens of prompt and answer, and the mean TTFT and TPOT measured."""

    model: str
    ranks: int
    rate: float
    prompt: int
    answer: int
    ttft_ms: float
    tpot_ms: float


POINTS = (
    LoadPoint("Llama-2-7B", 1, 5, 592, 194, 25, 9.25),
    LoadPoint("Llama-2-7B", 1, 10, 592, 196, 29.4, 11.2),
    LoadPoint("Llama-2-7B", 1, 20, 575, 209, 51.9, 19.7),
    LoadPoint("Llama-2-70B", 4, 5, 593, 245, 53.4, 17.5),
    LoadPoint("Llama-2-70B", 4, 10, 593, 245, 56.7, 19.2),
    LoadPoint("Llama-2-70B", 4, 20, 575, 246, 121, 22.3),
    LoadPoint("CodeLlama-34B", 2, 8, 574, 250, 46, 14.65),
    LoadPoint("CodeLlama-34B", 2, 20, 574, 250, 53.8, 16.9),
)
FITTED, HELD_OUT = POINTS[::2], POINTS[1::2]


class Times(msgspec.Struct, frozen=True):
    """Mean TTFT and TPOT in milliseconds. TTFT lacks the API server's part unless said otherwise."""

    ttft_ms: float
    tpot_ms: float


class Validation(msgspec.Struct, frozen=True):
    """What the formulas are worth. `predicted` is in the order of `POINTS`, TTFT with `overhead_ms`.

    Errors are mean absolute ones over the half that nothing was fitted on, as shares of what was measured.
    """

    shared: float
    overhead_ms: float
    predicted: tuple[Times, ...]
    tpot_error: float
    ttft_error: float


def validated(predictions: Sequence[Times], shared: float = SHARED) -> Validation:
    """Fit the overhead on one half of the points, and report the mean absolute error on the other."""
    overhead = median(
        point.ttft_ms - times.ttft_ms for point, times in list(zip(POINTS, predictions, strict=True))[::2]
    )
    whole = tuple(Times(times.ttft_ms + overhead, times.tpot_ms) for times in predictions)
    held_out = list(zip(POINTS, whole, strict=True))[1::2]
    return Validation(
        shared,
        overhead,
        whole,
        _mean_error((times.tpot_ms, point.tpot_ms) for point, times in held_out),
        _mean_error((times.ttft_ms, point.ttft_ms) for point, times in held_out),
    )


def conditioned(point: LoadPoint, shared: float = SHARED) -> Times:
    """At the measured concurrency: the fixed point of a step that prefills what arrives while it runs."""
    roofline = Roofline(MODELS[point.model], H100, point.ranks)
    running = round(point.rate * (point.ttft_ms + point.tpot_ms * (point.answer - 1)) / 1000)
    context = int(running * (point.prompt + point.answer / 2))
    fresh = point.prompt * (1 - shared)
    attended = point.prompt - fresh / 2

    def seconds(prefilled: float) -> float:
        return step_seconds(roofline, running, context, round(prefilled), prefilled * attended)

    step = seconds(0)
    for _ in range(_FIXED_POINT_ROUNDS):
        step = seconds(point.rate * step * fresh)
    return Times((step / 2 + seconds(fresh)) * 1000, step * 1000)


def simulated(point: LoadPoint, shared: float = SHARED, *, requests: int = 1000, seed: int = 1) -> Times:
    """Of an engine under Poisson arrivals of equal requests, the first fifth not counted."""
    config = EngineConfig(
        profile=point.model, gpu="H100", tp=point.ranks, overhead_ms=0, max_num_seqs=128, max_num_batched_tokens=2048
    )
    arrivals = np.cumsum(np.random.default_rng(seed).exponential(1 / point.rate, requests)).tolist()
    common = range(int(point.prompt * shared) // _BLOCK)
    sample = Sample(point.prompt, point.answer, common)
    served = run(profile_of(config), ((at, sample) for at in arrivals))[requests // 5 :]
    return Times(1000 * mean(one.ttft for one in served), 1000 * mean(one.tpot for one in served))


def _mean_error(pairs: Iterable[tuple[float, float]]) -> float:
    """Of (predicted, measured)."""
    return mean(abs(predicted / measured - 1) for predicted, measured in pairs)
