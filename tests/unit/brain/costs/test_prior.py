import pytest

from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS
from pointsman.brain.costs.prior import latency_rates
from pointsman.brain.costs.step_time import Roofline, prefill_seconds, step_seconds


@pytest.mark.parametrize("gpu", sorted(HARDWARE))
@pytest.mark.parametrize("model", ["Llama-3-8B", "Qwen2.5-72B"])
def test_the_rates_give_back_the_step_time_they_were_fitted_to(model: str, gpu: str) -> None:
    step = Roofline(MODELS[model], HARDWARE[gpu], 4)
    rates = latency_rates(model, gpu, 4)
    assert rates is not None
    (base, per_token, per_pair), (tpot, per_sequence, per_context) = rates
    assert base + 2048 * (per_token + 1024 * per_pair) == pytest.approx(prefill_seconds(step, 2048))
    assert tpot + 32 * per_sequence == pytest.approx(step_seconds(step, 32, 0))
    assert min(base, per_token, per_pair, tpot, per_sequence, per_context) > 0.0


def test_a_faster_gpu_promises_lower_rates() -> None:
    slow, fast = latency_rates("Llama-3-8B", "A100-80G", 1), latency_rates("Llama-3-8B", "H100", 1)
    assert slow is not None
    assert fast is not None
    assert fast[0][1] < slow[0][1]
    assert fast[1][0] < slow[1][0]


@pytest.mark.parametrize(("model", "gpu"), [("", "H100"), ("Llama-3-8B", ""), ("unheard-of", "H100")])
def test_nothing_is_promised_of_what_is_not_known(model: str, gpu: str) -> None:
    assert latency_rates(model, gpu, 1) is None
