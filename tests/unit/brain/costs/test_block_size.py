"""Blocks in MiB are so many tokens, by model."""

import pytest

from pointsman.brain.costs.block_size import sized, tokens_in
from pointsman.brain.costs.models import MODELS
from pointsman.brain.model.node import NodeSpec


@pytest.mark.parametrize(
    ("model", "mib", "tokens"),
    [
        ("Qwen-72B", 16, 6),  # 2.5 MiB each
        ("Qwen-72B", 128, 51),
        ("Qwen2.5-72B", 128, 409),
        ("Llama-3-8B", 128, 1024),
        ("Llama-3-8B", 1024, 8192),
    ],
)
def test_tokens_by_model(model: str, mib: int, tokens: int) -> None:
    assert tokens_in(mib, MODELS[model]) == tokens
    assert sized(NodeSpec(url="http://a", profile=model, block_mib=mib)).block_tokens == tokens


def test_heads_that_every_gpu_repeats_count_for_each() -> None:
    """Llama-3-8B has 8 KV heads: of 16 GPUs two hold each."""
    assert tokens_in(128, MODELS["Llama-3-8B"], 8) == 1024
    assert tokens_in(128, MODELS["Llama-3-8B"], 16) == 512


def test_a_block_that_holds_no_token() -> None:
    with pytest.raises(ValueError, match=r"takes 2\.5 MiB: no block of 2 MiB"):
        tokens_in(2, MODELS["Qwen-72B"])


def test_a_node_whose_model_is_not_known() -> None:
    with pytest.raises(ValueError, match=r"node 'a'.*`profile` must name its model, one of .*Llama-3-8B"):
        sized(NodeSpec(url="http://a", id="a", block_mib=128))


def test_blocks_in_tokens_stay() -> None:
    spec = NodeSpec(url="http://a", block_tokens=32)
    assert sized(spec) is spec
