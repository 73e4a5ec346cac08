"""Reading a model's shape for the emulated engine."""

import json
from pathlib import Path

import pytest

from pointsman.brain.costs.models import MODELS
from pointsman.config.engine import EngineConfig, load_shape

DOCUMENT = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def test_a_preset_by_name() -> None:
    assert load_shape(EngineConfig(profile="Qwen-72B")) is MODELS["Qwen-72B"]


@pytest.mark.parametrize("name", ["", "config.json"])
def test_a_file_or_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(DOCUMENT))
    shape = load_shape(EngineConfig(profile=str(folder / name)))
    assert (shape.name, shape.layers, shape.kv_heads) == ("tiny", 2, 4)


def test_neither_is_explained() -> None:
    with pytest.raises(ValueError, match=r"no profile 'nothing': give a config\.json or one of"):
        load_shape(EngineConfig(profile="nothing"))


def test_a_file_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{")
    with pytest.raises(ValueError, match=r"config\.json"):
        load_shape(EngineConfig(profile=str(path)))


def test_a_profile_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a":' + "[" * 50_000 + "]" * 50_000 + "}")
    with pytest.raises(ValueError, match=r"config\.json"):
        load_shape(EngineConfig(profile=str(path)))
