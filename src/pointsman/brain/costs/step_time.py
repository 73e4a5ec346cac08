"""How long one step of an engine takes: a roofline over weights, matrix products, attention and all-reduce.

A step computes T = N + Σk_i tokens: one for each of N decoding sequences, which together attend to S tokens of context,
and prefill chunks of k_i tokens after q_i computed ones. Everything but attention depends on T alone, and attention is
linear, so every model here has the form

    seconds = fixed(N, Σk) + per_context_token · S + per_attention_token · A,    A = Σ k_i · (q_i + k_i / 2)

`fixed` is the only part that is not trivial to compute and it repeats, so it is remembered per (N, Σk). While a batch
does not change, S grows by N with each step: a run of m decode steps sums in closed form.
"""

from typing import Protocol

from pointsman.brain.costs.geometry import kv_bytes_per_token, kv_replicas
from pointsman.brain.costs.hardware import Hardware
from pointsman.brain.costs.models import ModelShape


class StepTime(Protocol):
    """The time of a step as a linear form in its context, given its number of tokens. All in seconds."""

    @property
    def per_context_token(self) -> float:
        """Reading one token of KV cache for a decoding sequence."""

    @property
    def per_attention_token(self) -> float:
        """One pair of a prefilled token and a token it attends to."""

    def fixed(self, decodes: int, prefill_tokens: int) -> float:
        """The part that does not depend on context."""


def step_seconds(
    model: StepTime, decodes: int, context_tokens: int, prefill_tokens: int = 0, attention_pairs: float = 0.0
) -> float:
    """Seconds of one step: `decodes` sequences with `context_tokens` in total, and prefill chunks with A pairs."""
    return (
        model.fixed(decodes, prefill_tokens)
        + model.per_context_token * context_tokens
        + model.per_attention_token * attention_pairs
    )


def decode_run_seconds(model: StepTime, decodes: int, context_tokens: int, steps: int) -> float:
    """Seconds of `steps` decode steps of an unchanged batch, whose context starts at `context_tokens` in total."""
    grown = steps * (steps - 1) // 2 * decodes
    return steps * model.fixed(decodes, 0) + model.per_context_token * (steps * context_tokens + grown)


def prefill_seconds(model: StepTime, tokens: int, cached_tokens: int = 0, budget: int = 2048) -> float:
    """Seconds to prefill a prompt of `tokens` on an idle engine, in chunks of `budget`, after `cached_tokens` hits."""
    total, computed = 0.0, cached_tokens
    while computed < tokens:
        chunk = min(budget, tokens - computed)
        total += step_seconds(model, 0, 0, chunk, chunk * (computed + chunk / 2))
        computed += chunk
    return total


class Roofline:
    """Step time from a model's shape and a GPU's figures, bf16, `tensor_parallel` ranks.

    Per layer, with P = layer parameters / TP:
    gemm = [(2P/(η_w·BW))³ + (2PT/(μ·F))³]^⅓, elem = k_l + 1.5·T·(6d + 3·ff/TP)·2/BW,
    attn = (cache bytes of S tokens)/(η_kv·BW) + 4·(h/TP)·d_h·A/(μ_a·F), all-reduce = 2·[α + 4(TP−1)/TP·T·d/BW_ar].
    Once a step: the output head 2·V·d/(TP·η_w·BW) and `host_seconds`.
    The cubic norm rounds the corner between the memory-bound and the compute-bound regime. Of a mixture of experts a
    step reads those that any of its T tokens passes, E·(1 − (1 − k/E)^T) if they choose k of E evenly, and multiplies
    each token with k.
    """

    def __init__(self, shape: ModelShape, gpu: Hardware, tensor_parallel: int = 1, host_seconds: float = 0.002) -> None:
        ranks = tensor_parallel
        common, experts = (each / shape.layers / ranks for each in (shape.common_parameters, shape.expert_parameters))
        self._layers = shape.layers
        self._weights = 2 * common / (gpu.weight_efficiency * gpu.bandwidth)
        self._expert_weights = 2 * experts / (gpu.weight_efficiency * gpu.bandwidth)
        self._expert_share = shape.expert_share
        self._product = 2 * (common + experts * shape.expert_share) / (gpu.gemm_efficiency * gpu.flops)
        self._launch = gpu.layer_seconds
        self._elementwise = 1.5 * (6 * shape.hidden + 3 * shape.mean_feed_forward / ranks) * 2 / gpu.bandwidth
        if ranks > 1:
            self._launch += 2 * gpu.allreduce_seconds
            self._elementwise += 2 * 4 * (ranks - 1) / ranks * shape.hidden / gpu.allreduce_bandwidth
        head = 2 * shape.vocabulary * shape.hidden / (ranks * gpu.weight_efficiency * gpu.bandwidth)
        self._once = head + host_seconds
        cache_read = kv_bytes_per_token(shape) * kv_replicas(shape, ranks) / ranks
        self.per_context_token = cache_read / (gpu.kv_efficiency * gpu.bandwidth)
        products = shape.attention_layers * 2 * shape.heads / ranks * shape.attention_sizes
        self.per_attention_token = products / (gpu.attention_efficiency * gpu.flops)
        self._fixed: dict[int, float] = {}

    def fixed(self, decodes: int, prefill_tokens: int) -> float:
        tokens = decodes + prefill_tokens
        seconds = self._fixed.get(tokens)
        if seconds is None:
            passed = 1 - (1 - self._expert_share) ** tokens
            weights = self._weights + self._expert_weights * passed
            gemm = (weights**3 + (self._product * tokens) ** 3) ** (1 / 3)
            layer = gemm + self._launch + self._elementwise * tokens
            seconds = self._fixed[tokens] = self._layers * layer + self._once
        return seconds


class Linear:
    """Step time from measured figures: `base + per_sequence·N + Σk/prefill_rate + per_context_token·S`."""

    def __init__(
        self, base: float, per_sequence: float, prefill_tokens_per_second: float, per_context_token: float = 0.0
    ) -> None:
        self._base = base
        self._per_sequence = per_sequence
        self._per_prefill_token = 1.0 / prefill_tokens_per_second
        self.per_context_token = per_context_token
        self.per_attention_token = 0.0

    def fixed(self, decodes: int, prefill_tokens: int) -> float:
        return self._base + self._per_sequence * decodes + self._per_prefill_token * prefill_tokens
