"""Latency rates to believe before a node has answered anything."""

from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS
from pointsman.brain.costs.step_time import Roofline, StepTime, prefill_seconds, step_seconds

Rates = tuple[float, float, float]

UNKNOWN_PREFILL: Rates = (0.02, 1.0 / 8000.0, 0.0)
"""8,000 tokens/s: the middle of what one server does, from an L40S with an 8B model to eight A100s with a 72B."""
UNKNOWN_TPOT: Rates = (0.02, 1e-4, 0.0)
"""20 ms a token alone and 0.1 ms for each request beside it: the same middle."""
PROBE_TOKENS = 2048
PROBE_BATCH = 32


def latency_prior(profile: str, hardware: str, tensor_parallel: int) -> tuple[Rates, Rates]:
    """(prefill base, s per token, s per token pair), (TPOT base, s per sequence, s per context token).

    From the cost model when both names are known, else the unknown node's rates.
    """
    shape, gpu = MODELS.get(profile.lower()), HARDWARE.get(hardware)
    if shape is None or gpu is None:
        return UNKNOWN_PREFILL, UNKNOWN_TPOT
    return rates_of(Roofline(shape, gpu, tensor_parallel))


def rates_of(step: StepTime) -> tuple[Rates, Rates]:
    """The linear rates that fit `step` at a prompt of 2,048 tokens and at a batch of 1 to 32 sequences."""
    pair = step.per_attention_token
    base = step.fixed(0, 1)
    attention = pair * PROBE_TOKENS * PROBE_TOKENS / 2
    per_token = (prefill_seconds(step, PROBE_TOKENS) - base - attention) / PROBE_TOKENS
    one = step_seconds(step, 1, 0)
    per_sequence = (step_seconds(step, PROBE_BATCH, 0) - one) / (PROBE_BATCH - 1)
    return (base, per_token, pair), (one - per_sequence, per_sequence, step.per_context_token)
