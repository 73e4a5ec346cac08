"""Models and GPUs from files: the one place that reads a `config.json` of Hugging Face or the figures of a GPU."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pointsman.brain.costs.hardware import GIB, HARDWARE, Hardware
from pointsman.brain.costs.hf_config import shape_from_hf
from pointsman.brain.costs.models import MODELS, ModelShape
from pointsman.engine.profile import Catalogue

Above = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(gt=0, le=1)]
NotBelow = Annotated[float, Meta(ge=0)]


class GpuFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A GPU as its data sheet has it, and what kernels reach of that; defaults lie between those of the catalogue."""

    tflops: Above  # bf16, dense
    bandwidth_tb_s: Above
    memory_gib: Above
    reserved_gib: NotBelow = 2.5
    weight_efficiency: Share = 0.8
    gemm_efficiency: Share = 0.7
    kv_efficiency: Share = 0.72
    attention_efficiency: Share = 0.5
    layer_us: NotBelow = 40.0
    allreduce_us: NotBelow = 12.0
    allreduce_gb_s: Above = 150.0

    def hardware(self, name: str) -> Hardware:
        """In the units of formulas."""
        return Hardware(
            name=name,
            flops=self.tflops * 1e12,
            bandwidth=self.bandwidth_tb_s * 1e12,
            weight_efficiency=self.weight_efficiency,
            gemm_efficiency=self.gemm_efficiency,
            kv_efficiency=self.kv_efficiency,
            attention_efficiency=self.attention_efficiency,
            layer_seconds=self.layer_us * 1e-6,
            allreduce_seconds=self.allreduce_us * 1e-6,
            allreduce_bandwidth=self.allreduce_gb_s * 1e9,
            memory_bytes=int(self.memory_gib * GIB),
            reserved_bytes=int(self.reserved_gib * GIB),
        )


class Files(Catalogue):
    """What is built in, and what names that are files say. Raises ValueError that names the file."""

    def model(self, name: str) -> ModelShape:
        """A preset, a Hugging Face `config.json` or the folder that holds one."""
        return MODELS.get(name) or _model_file(name)

    def gpu(self, name: str) -> Hardware:
        """A preset or a TOML file with the fields of `GpuFile`."""
        return HARDWARE.get(name) or _gpu_file(name)


def _model_file(name: str) -> ModelShape:
    path = Path(name)
    if path.is_dir():
        path = path / "config.json"
    if not path.is_file():
        raise ValueError(f"no profile {name!r}: give a config.json or one of {', '.join(MODELS)}")
    try:
        document = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError, RecursionError) as error:  # the last for JSON nested too deeply
        raise ValueError(f"{path}: {error}") from error
    return shape_from_hf(document, path.parent.name or path.stem)


def _gpu_file(name: str) -> Hardware:
    path = Path(name)
    if not path.is_file():
        raise ValueError(f"no gpu {name!r}: give a TOML file or one of {', '.join(HARDWARE)}")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(document, GpuFile, strict=False).hardware(path.stem)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}; its fields: {', '.join(GpuFile.__struct_fields__)}") from error
