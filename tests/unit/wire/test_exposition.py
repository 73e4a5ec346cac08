"""What engines' metric pages say."""

from pathlib import Path

import pytest

from pointsman.wire.exposition import EngineReading, read_exposition

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"


def test_recorded_vllm() -> None:
    reading = read_exposition((VLLM / "metrics_busy_cache.http").read_text())
    assert (reading.running, reading.waiting, reading.kv_usage) == (0, 0, 0.0)
    assert (reading.kv_blocks, reading.block_tokens) == (40, 32)
    assert reading.started_at is not None
    assert reading.started_at > 1.7e9


RANKS = """
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a, b=\\"}c"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
vllm:gpu_cache_usage_perc{engine="0",model_name="m"} 0.2
vllm:gpu_cache_usage_perc{engine="1",model_name="m"} 0.4
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="100"} 1.0
vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="200"} 1.0
"""


def test_ranks_together_and_apart() -> None:
    whole = read_exposition(RANKS)
    assert (whole.running, whole.waiting, whole.kv_blocks, whole.block_tokens) == (7, 1, 300, 16)
    assert whole.kv_usage is not None
    assert abs(whole.kv_usage - 0.3) < 1e-9
    one = read_exposition(RANKS, rank=1)
    assert (one.running, one.waiting, one.kv_usage, one.kv_blocks) == (4, None, 0.4, 200)


def test_sglang() -> None:
    page = 'sglang:num_running_reqs{model_name="m"} 2\nsglang:num_queue_reqs{} 5.0\nsglang:token_usage 0.25\n'
    assert read_exposition(page) == EngineReading(running=2, waiting=5, kv_usage=0.25)


def test_anything_else_is_forgiven() -> None:
    odd = "vllm:num_requests_running\nvllm:num_requests_running x\nvllm:num_requests_waiting NaN\n<html>\nvllm:{} 1"
    assert read_exposition(odd) == EngineReading()
    assert read_exposition("") == EngineReading()


@pytest.mark.parametrize("number", ["1e308", "-1", "-1e300", "Inf", "1e16", "1e10"])
def test_numbers_that_cannot_be_are_passed_over(number: str) -> None:
    line = f"vllm:num_requests_running {number}\n"
    info = f'vllm:cache_config_info{{num_gpu_blocks="{number}",block_size="0"}} 1\n'
    assert read_exposition(line * 2 + info + f"vllm:kv_cache_usage_perc {number}\n") == EngineReading()


def test_a_share_is_no_percentage() -> None:
    assert read_exposition("vllm:kv_cache_usage_perc 1.0\n").kv_usage == 1.0
    assert read_exposition("vllm:kv_cache_usage_perc 57.0\n").kv_usage is None


def test_labels_may_hold_anything() -> None:
    page = 'vllm:num_requests_running{model_name="a}\\"{\x1e\u2028 7"} 2 # {} 1\n \tvllm:num_requests_waiting {}3 17\n'
    assert read_exposition(page) == EngineReading(running=2, waiting=3)


def test_gpus_are_averaged_and_told_by_whoever_joins_their_page() -> None:
    page = 'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 90\nDCGM_FI_DEV_GPU_UTIL{gpu="1"} 30\nDCGM_FI_DEV_GPU_UTIL{gpu="2"} 101\n'
    assert read_exposition(page).gpu_percent == 60.0
    assert read_exposition("DCGM_FI_DEV_MEM_COPY_UTIL 4").gpu_percent is None
