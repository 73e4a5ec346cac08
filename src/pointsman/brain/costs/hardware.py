"""What a GPU can do, as far as the step time of a transformer depends on it."""

import msgspec

GIB = 1 << 30


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of GPU: peak figures from its data sheet and the fitted shares of them that inference kernels reach."""

    name: str
    flops: float  # bf16 operations per second, dense
    bandwidth: float  # memory bytes per second
    weight_efficiency: float  # η_w: share of the bandwidth reached while weights stream in
    gemm_efficiency: float  # μ: share of the peak reached by large matrix products
    layer_seconds: float  # k_l: kernel launches of one layer
    allreduce_seconds: float  # α: latency of one all-reduce
    allreduce_bandwidth: float  # bytes per second between tensor-parallel ranks
    memory_bytes: int
    reserved_bytes: int  # of the memory an engine may use, what weights and KV cache do not get
    kv_efficiency: float = 0.72  # η_kv: share of the bandwidth reached while attention reads the KV cache
    attention_efficiency: float = 0.5  # μ_a: share of the peak reached by prefill attention


def _gpu(
    name: str,
    tflops: float,
    terabytes: float,
    efficiencies: tuple[float, float],
    layer_us: float,
    ring: tuple[float, float],
    gib: tuple[float, float],
) -> Hardware:
    return Hardware(
        name=name,
        flops=tflops * 1e12,
        bandwidth=terabytes * 1e12,
        weight_efficiency=efficiencies[0],
        gemm_efficiency=efficiencies[1],
        layer_seconds=layer_us * 1e-6,
        allreduce_seconds=ring[0] * 1e-6,
        allreduce_bandwidth=ring[1] * 1e9,
        memory_bytes=int(gib[0] * GIB),
        reserved_bytes=int(gib[1] * GIB),
    )


A100 = _gpu("A100-80G", 312, 2.04, (0.78, 0.72), 45, (12, 150), (79.2, 2.5))
H100 = _gpu("H100", 989, 3.35, (0.90, 0.70), 35, (6, 300), (79.2, 5.0))
H200 = _gpu("H200", 989, 4.8, (0.85, 0.70), 35, (6, 300), (139.8, 5.0))
L40S = _gpu("L40S", 362, 0.864, (0.80, 0.60), 40, (30, 20), (44.5, 2.5))

HARDWARE = {gpu.name: gpu for gpu in (A100, H100, H200, L40S)}
