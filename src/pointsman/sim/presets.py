"""Fleets under names."""

from pointsman.sim.fleet import NodeKind

_LONG = 131_072
_EIGHT_BY_EIGHT = (NodeKind(name="a100", count=8, profile="Qwen2.5-72B", gpu="A100-80G", tp=8, max_model_len=_LONG),)


def _one_third(name: str, speed: float) -> NodeKind:
    """Nodes of the demonstration."""
    return NodeKind(
        name=name,
        count=2,
        profile="Qwen2.5-72B",
        gpu="H100",
        tp=8,
        speed=speed,
        max_num_seqs=64,
        max_num_batched_tokens=2048,
    )


FLEETS: dict[str, tuple[NodeKind, ...]] = {
    "qwen72b-a100": (NodeKind(name="a100", count=4, profile="Qwen-72B", gpu="A100-80G", tp=8),),
    "qwen2.5-72b-a100": _EIGHT_BY_EIGHT,
    "8x8xa100": _EIGHT_BY_EIGHT,
    "llama70b-h100": (NodeKind(name="h100", count=4, profile="Llama-3-70B", gpu="H100", tp=4, max_model_len=_LONG),),
    "mixed": (
        NodeKind(name="h100", count=2, gpu="H100", max_model_len=_LONG),
        NodeKind(name="a100", count=2, gpu="A100-80G", max_model_len=_LONG),
        NodeKind(name="l40s", count=4, gpu="L40S", max_model_len=_LONG),
    ),
    "three-new-seven-old": (
        NodeKind(name="new", count=3, gpu="H100", overhead_ms=200.0),
        NodeKind(name="old", count=7, gpu="A100-80G", overhead_ms=10.0),
    ),
    "edge-chain": (
        NodeKind(name="rack", count=2, gpu="L40S"),
        NodeKind(name="shop", count=3, gpu="L40S", speed=0.5, kv_blocks=4096, max_num_seqs=32, overhead_ms=40.0),
        NodeKind(name="kiosk", count=3, gpu="L40S", speed=0.25, kv_blocks=2048, max_num_seqs=16, overhead_ms=80.0),
    ),
    "three-plain": (NodeKind(name="plain", count=3, kind="plain", drift=0.3, drift_swing=0.3),),
    "uneven": (_one_third("fast", 1.0), _one_third("slow", 1 / 3)),
}
"""`8x8xa100`: eight nodes of eight A100 each, another name of `qwen2.5-72b-a100`. `three-new-seven-old`: the new ones
recover from load two to three times as fast, the old ones are nearer and answer short prompts sooner. `edge-chain`:
small servers, unevenly fast and far. `three-plain`: plain inference servers that answer in 0.1 + 0.9·load s, with load
from elsewhere that drifts between 0 and 0.6, one after the other. `uneven`: two nodes three times slower than two
others, as in the demonstration.
"""
