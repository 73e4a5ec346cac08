"""The roofline reproduces measured orders of magnitude and its linear form is exact."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS, Experts
from pointsman.brain.costs.step_time import Linear, Roofline, decode_run_seconds, prefill_seconds, step_seconds

EXPECTED = [
    ("Llama-3-8B", "A100-80G", 1, (13.0, 15.9, 26.8), 145),
    ("Llama-3-70B", "H100", 4, (17.3, 19.0, 24.7), 147),
    ("Qwen-72B", "A100-80G", 8, (19.0, 27.2, 55.0), 248),
    ("Qwen2.5-72B", "A100-80G", 8, (18.8, 20.9, 29.5), 249),
]


@pytest.mark.parametrize(("model", "gpu", "ranks", "decode_ms", "prefill_ms"), EXPECTED)
def test_predicted_times(
    model: str, gpu: str, ranks: int, decode_ms: tuple[float, float, float], prefill_ms: float
) -> None:
    roofline = Roofline(MODELS[model], HARDWARE[gpu], ranks)
    for sequences, expected in zip((1, 32, 128), decode_ms, strict=True):
        assert step_seconds(roofline, sequences, sequences * 1024) * 1e3 == pytest.approx(expected, rel=0.03)
    assert prefill_seconds(roofline, 2048) * 1e3 == pytest.approx(prefill_ms, rel=0.03)


@given(sequences=st.integers(1, 256), context=st.integers(0, 10**6), steps=st.integers(0, 300))
def test_a_run_of_decode_steps_sums_in_closed_form(sequences: int, context: int, steps: int) -> None:
    roofline = Roofline(MODELS["Llama-3-8B"], HARDWARE["H100"])
    stepped = sum(step_seconds(roofline, sequences, context + k * sequences) for k in range(steps))
    assert decode_run_seconds(roofline, sequences, context, steps) == pytest.approx(stepped, rel=1e-9)


def test_cached_tokens_are_not_prefilled_again() -> None:
    roofline = Roofline(MODELS["Llama-3-8B"], HARDWARE["A100-80G"])
    whole, rest = prefill_seconds(roofline, 8192), prefill_seconds(roofline, 8192, cached_tokens=8192 - 2048)
    assert rest < whole / 3
    # The rest still attends to the cached part, so it is dearer than a prompt of its own length.
    assert rest > prefill_seconds(roofline, 2048)
    assert prefill_seconds(roofline, 2048, cached_tokens=2048) == 0.0


def test_attention_over_the_latent_cache_is_not_divided_by_ranks() -> None:
    mla = msgspec.structs.replace(MODELS["Llama-3-8B"], kv_lora_rank=512, rope_size=64)
    one, four = (Roofline(mla, HARDWARE["H100"], ranks) for ranks in (1, 4))
    assert one.per_context_token == pytest.approx(four.per_context_token)


def test_measured_figures_are_taken_as_they_are() -> None:
    linear = Linear(base=0.010, per_sequence=0.001, prefill_tokens_per_second=1000)
    assert step_seconds(linear, 5, 10_000) == pytest.approx(0.015)
    assert step_seconds(linear, 0, 0, 500) == pytest.approx(0.510)


def test_a_step_reads_the_experts_that_its_tokens_pass() -> None:
    """Eight experts of which each token passes two: one token reads a quarter of them, many tokens all."""
    dense = msgspec.structs.replace(MODELS["Llama-3-8B"], feed_forward=8 * 14336)
    sparse = msgspec.structs.replace(
        MODELS["Llama-3-8B"], experts=Experts(layers=32, count=8, per_token=2, feed_forward=14336)
    )
    quarter = msgspec.structs.replace(dense, feed_forward=2 * 14336)
    whole, some, few = (Roofline(shape, HARDWARE["H100"]) for shape in (dense, sparse, quarter))
    assert some.fixed(1, 0) == pytest.approx(few.fixed(1, 0), rel=1e-6)
    assert some.fixed(16, 0) == pytest.approx(whole.fixed(16, 0), rel=0.02)
    assert some.fixed(0, 4096) < whole.fixed(0, 4096) / 2.5
