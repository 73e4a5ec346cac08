"""What the scenes tell their gateways and engines."""

import argparse
from collections.abc import Mapping
from typing import Any


def settings(options: argparse.Namespace, **more: Any) -> dict[str, Any]:
    """The gateway's file; `more` are further keys of it. It stops at once: a scene ends when nobody asks any more."""
    timeouts = {"lame_duck_s": 0, "drain_s": 2} | more.pop("timeouts", {})
    return {"policy": options.policy, "brain": {"seed": options.seed}, "timeouts": timeouts} | more


def engine(gap_ms: float, batch: int, **more: Any) -> dict[str, Any]:
    """Flags of an engine that writes a token every `gap_ms` for each of up to `batch` requests."""
    flags = {
        "decode_base_ms": gap_ms,
        "prefill_tokens_per_second": 200_000,
        "max_num_seqs": batch,
        "max_num_batched_tokens": 65_536,
        "overhead_ms": 2,
    }
    return flags | more


def played(options: argparse.Namespace, *names: str) -> Mapping[str, Any]:
    """The arguments that say how the scene was run."""
    return {name: getattr(options, name) for name in ("seed", "workers", "policy", *names)}
