"""What an engine's Prometheus page says about its load, as far as placing uses it.

Reads the names of vLLM and SGLang, and that of NVIDIA's exporter for the GPUs where one page joins them, line by line
and forgives the rest: an unknown name, an odd line, a missing gauge, a number that cannot be.
Behind one URL several data-parallel ranks may report, told apart by the label `engine` (vLLM) or `dp_rank` (SGLang).
"""

import re

import msgspec


class EngineReading(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """None means: not said. `kv_usage` is a share 0..1, `gpu_percent` one of the time its GPUs compute, 0..100,
    `started_at` seconds since 1970.
    """

    running: int | None = None
    waiting: int | None = None
    kv_usage: float | None = None
    gpu_percent: float | None = None
    kv_blocks: int | None = None
    block_tokens: int | None = None
    started_at: float | None = None


_GAUGES = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:kv_cache_usage_perc": "kv_usage",
    "vllm:gpu_cache_usage_perc": "kv_usage",
    "sglang:num_running_reqs": "running",
    "sglang:num_queue_reqs": "waiting",
    "sglang:token_usage": "kv_usage",
    "DCGM_FI_DEV_GPU_UTIL": "gpu_percent",
    "process_start_time_seconds": "started_at",
}
_INFO = "vllm:cache_config_info"
_MOST_COUNTED = 1e9
_RANGES = {
    "running": (0.0, _MOST_COUNTED),
    "waiting": (0.0, _MOST_COUNTED),
    "kv_usage": (0.0, 1.0),
    "gpu_percent": (0.0, 100.0),
    "kv_blocks": (1.0, _MOST_COUNTED),
    "block_tokens": (1.0, 1e6),
    "started_at": (0.0, 1e15),
}
"""What each can be; products and sums of such numbers stay exact."""
_LINE = re.compile(
    r'(?P<name>[a-zA-Z_:][\w:]*)(?:\s*\{(?P<labels>(?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\}\s*|\s+)(?P<value>\S+)'
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_RANK_LABELS = ("engine", "dp_rank")


def read_exposition(text: str, rank: int | None = None) -> EngineReading:
    """The reading of the whole engine, or of one data-parallel rank of it. Requests are summed, KV use averaged."""
    values: dict[str, list[float]] = {}
    for line in text.split("\n"):  # a model name may hold other line ends
        line = line.lstrip()
        if not line.startswith(("vllm:", "sglang:", "process_start", "DCGM_FI_DEV_GPU_UTIL")):
            continue
        found = _LINE.match(line)
        if found:
            _take(values, found["name"], dict(_LABEL.findall(found["labels"] or "")), found["value"], rank)
    return EngineReading(
        running=_whole(values.get("running")),
        waiting=_whole(values.get("waiting")),
        kv_usage=_mean(values.get("kv_usage")),
        gpu_percent=_mean(values.get("gpu_percent")),
        kv_blocks=_whole(values.get("kv_blocks")),
        block_tokens=_whole(values.get("block_tokens", [])[:1]),
        started_at=_mean(values.get("started_at")),
    )


def _take(values: dict[str, list[float]], name: str, labels: dict[str, str], value: str, rank: int | None) -> None:
    if rank is not None and any(labels.get(label, str(rank)) != str(rank) for label in _RANK_LABELS):
        return
    if name == _INFO:
        _add(values, "kv_blocks", labels.get("num_gpu_blocks", ""))
        _add(values, "block_tokens", labels.get("block_size", ""))
    elif name in _GAUGES:
        _add(values, _GAUGES[name], value)


def _add(values: dict[str, list[float]], field: str, text: str) -> None:
    try:
        number = float(text)
    except ValueError:
        return
    least, most = _RANGES[field]
    if least <= number <= most:
        values.setdefault(field, []).append(number)


def _whole(numbers: list[float] | None) -> int | None:
    return int(sum(numbers)) if numbers else None


def _mean(numbers: list[float] | None) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
