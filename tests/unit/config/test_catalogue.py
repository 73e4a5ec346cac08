"""Models and GPUs from files."""

import json
from pathlib import Path

import pytest

from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS
from pointsman.config.catalogue import Files
from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig

DOCUMENT = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def test_a_preset_by_name() -> None:
    assert Files().model("Qwen-72B") is MODELS["Qwen-72B"]


@pytest.mark.parametrize("name", ["", "config.json"])
def test_a_file_or_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(DOCUMENT))
    shape = Files().model(str(folder / name))
    assert (shape.name, shape.layers, shape.kv_heads) == ("tiny", 2, 4)


def test_neither_is_explained() -> None:
    with pytest.raises(ValueError, match=r"no profile 'nothing': give a config\.json or one of"):
        Files().model("nothing")


def test_a_file_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{")
    with pytest.raises(ValueError, match=r"config\.json"):
        Files().model(str(path))


def test_a_profile_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a":' + "[" * 50_000 + "]" * 50_000 + "}")
    with pytest.raises(ValueError, match=r"config\.json"):
        Files().model(str(path))


GPU = """
tflops = 989
bandwidth_tb_s = 3.35
memory_gib = 79.2
reserved_gib = 5
weight_efficiency = 0.9
layer_us = 35
allreduce_us = 6
allreduce_gb_s = 300
"""


def test_a_gpu_by_name() -> None:
    assert Files().gpu("L40S") is HARDWARE["L40S"]


def test_a_gpu_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "H100.toml"
    path.write_text(GPU)
    gpu, built_in = Files().gpu(str(path)), HARDWARE["H100"]
    for field in gpu.__struct_fields__:
        assert getattr(gpu, field) == (built_in.name if field == "name" else pytest.approx(getattr(built_in, field)))


def test_three_figures_are_enough_for_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    path.write_text("tflops = 2000\nbandwidth_tb_s = 8.0\nmemory_gib = 180\n")
    fast = profile_of(EngineConfig(gpu=str(path)), Files())
    assert fast.step_time.fixed(1, 0) < profile_of(EngineConfig(gpu="H200")).step_time.fixed(1, 0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("tflops = 1", "bandwidth_tb_s"),
        (GPU + "watts = 700", "watts"),
        (GPU.replace("0.9", "9.0"), "weight_efficiency"),
        ("tflops = -1\nbandwidth_tb_s = 1\nmemory_gib = 1", "tflops"),
        ("[", "TOML|Invalid|Expected|found"),
    ],
)
def test_what_is_wrong_with_a_gpu_is_named(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "g.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"g\.toml: .*({what})"):
        Files().gpu(str(path))


def test_no_gpu_is_explained() -> None:
    with pytest.raises(ValueError, match=r"no gpu 'B9000': give a TOML file or one of A100-80G"):
        Files().gpu("B9000")
