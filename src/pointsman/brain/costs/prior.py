"""Latency rates to believe of known hardware before a node has answered anything."""

from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS
from pointsman.brain.costs.step_time import Roofline, StepTime, prefill_seconds, step_seconds

Rates = tuple[float, float, float]

PROBE_TOKENS = 2048
PROBE_BATCH = 32


def latency_rates(profile: str, hardware: str, tensor_parallel: int) -> tuple[Rates, Rates] | None:
    """(prefill base, s per token, s per token pair), (TPOT base, s per sequence, s per context token).

    None unless both names are known to the cost model.
    """
    shape, gpu = MODELS.get(profile), HARDWARE.get(hardware)
    return rates_of(Roofline(shape, gpu, tensor_parallel)) if shape and gpu else None


def rates_of(step: StepTime) -> tuple[Rates, Rates]:
    """The linear rates that fit `step` at a prompt of 2,048 tokens and at a batch of 1 to 32 sequences."""
    pair = step.per_attention_token
    base = step.fixed(0, 1)
    attention = pair * PROBE_TOKENS * PROBE_TOKENS / 2
    per_token = (prefill_seconds(step, PROBE_TOKENS) - base - attention) / PROBE_TOKENS
    one = step_seconds(step, 1, 0)
    per_sequence = (step_seconds(step, PROBE_BATCH, 0) - one) / (PROBE_BATCH - 1)
    return (base, per_token, pair), (one - per_sequence, per_sequence, step.per_context_token)
