"""Configuration of `pointsman engine`, and the one place that reads a model's `config.json` for it."""

from pathlib import Path
from typing import Any

import msgspec

from pointsman.brain.costs.models import MODELS, ModelShape, shape_from_hf
from pointsman.engine.settings import EngineConfig

__all__ = ["EngineConfig", "load_shape"]


def load_shape(config: EngineConfig) -> ModelShape:
    """The shape `config.profile` names: a preset, a Hugging Face `config.json` or the folder that holds one.

    Raises ValueError that names the presets if there is neither, or what the file lacks.
    """
    preset = MODELS.get(config.profile)
    if preset is not None:
        return preset
    path = Path(config.profile)
    if path.is_dir():
        path = path / "config.json"
    if not path.is_file():
        raise ValueError(f"no profile {config.profile!r}: give a config.json or one of {', '.join(MODELS)}")
    try:
        document = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:  # the latter for JSON nested too deeply
        raise ValueError(f"{path}: {error}") from error
    return shape_from_hf(document, path.parent.name or path.stem)
