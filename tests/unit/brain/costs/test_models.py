"""Model shapes that are built in."""

import pytest

from pointsman.brain.costs.models import MODELS, Experts, ModelShape


@pytest.mark.parametrize(
    ("model", "billions"),
    [("Llama-2-7B", 6.74), ("Llama-2-70B", 69), ("Llama-3-8B", 8.03), ("Llama-3-70B", 70.6), ("Qwen2.5-72B", 72.7)],
)
def test_parameter_counts(model: str, billions: float) -> None:
    assert MODELS[model].parameters / 1e9 == pytest.approx(billions, rel=0.01)


def test_a_model_without_experts_has_none_to_choose_from() -> None:
    shape = MODELS["Llama-3-8B"]
    assert (shape.expert_parameters, shape.expert_share, shape.mean_feed_forward) == (0, 0.0, 14336)


def test_experts_count_in_full_and_work_in_part() -> None:
    """Two layers, one of which has four experts of 10 and a shared one of 5; the other is dense, 40 wide."""
    experts = Experts(layers=1, count=4, per_token=2, feed_forward=10, shared=5)
    shape = ModelShape(
        name="m", layers=2, hidden=8, heads=2, kv_heads=1, head_size=4, feed_forward=40, vocabulary=10, experts=experts
    )
    attention = 8 * 4 * (2 * 2 + 2 * 1)
    assert shape.common_parameters == 2 * attention + 3 * 8 * (40 + 5)
    assert shape.expert_parameters == 3 * 8 * 4 * 10
    assert shape.parameters == shape.common_parameters + shape.expert_parameters + 2 * 8 * 10
    assert shape.expert_share == 0.5
    assert shape.mean_feed_forward == (40 + 2 * 10 + 5) / 2
