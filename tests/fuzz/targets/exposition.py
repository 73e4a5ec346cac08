"""Metrics pages: any text is read, and what Prometheus's own parser sees of a node's load is what we see."""

import math
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from pointsman.wire.exposition import read_exposition

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
SEEDS = [path.read_bytes().partition(b"\r\n\r\n")[2][:3000] for path in sorted(VLLM.glob("metrics*.http"))]
SEEDS += [
    b'vllm:num_requests_running{engine="0",model_name="m"} 3.0\nvllm:num_requests_waiting{engine="0"} 1e2 17\n',
    b'vllm:cache_config_info{block_size="16",num_gpu_blocks="100"} 1.0\nsglang:token_usage{dp_rank="1"} 0.5\n',
    b'# HELP x y\n# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{a="}",b="\\"} 7"} 2 # {} 1\n',
]
WORDS = (
    b"vllm:num_requests_running", b"vllm:num_requests_waiting", b"sglang:num_running_reqs", b'{engine="0"}', b" 1.0\n",
    b"vllm:kv_cache_usage_perc", b'{dp_rank="1"}', b"NaN", b"+Inf", b"-1", b'\\"', b"}", b"{", b"# TYPE ", b" gauge\n",
)  # fmt: skip

RUNNING = ("vllm:num_requests_running", "sglang:num_running_reqs")


def check(data: bytes) -> None:
    text = data.decode(errors="replace")
    for rank in (None, 0):
        reading = read_exposition(text, rank)
        numbers = (reading.running, reading.waiting, reading.kv_usage, reading.kv_blocks, reading.block_tokens)
        assert all(number is None or (math.isfinite(number) and number >= 0) for number in numbers)
    expected = running(text)
    assert expected is None or expected == read_exposition(text).running, expected


def running(text: str) -> int | None:
    """Requests that run, by another parser; None where it refuses the page, or sees none or odd numbers."""
    try:
        samples = [s for family in text_string_to_metric_families(text) for s in family.samples if s.name in RUNNING]
    except (ValueError, IndexError, KeyError):
        return None
    values = [sample.value for sample in samples]
    usual = values and all(value >= 0 for value in values) and sum(values) <= 1e9
    return int(sum(values)) if usual else None
