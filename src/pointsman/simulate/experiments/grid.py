"""The scenes of an experiment: every combination of its grid, by each of its scenes, as settings of simulations."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from pointsman.config.experiment import QUICK, ExperimentConfig, Paper, trace_in
from pointsman.config.flags import ConfigError, convert
from pointsman.config.sweep import SweepConfig, check_sweep

LOADS = "loads"
WORDS = {
    "fleet": "{}",
    "workload": "{}",
    "part": "{}",
    "feedback_delay_s": "tokens {:g} s late",
    "report_delay_s": "reports {:g} s late",
    "plain": "{:.0%} plain",
    "load": "load {:g}",
    "rate": "{:g} requests/s",
    "rate_factor": "pace × {:g}",
    "gateways": "gateways: {}",
    "seed": "seed {}",
}
"""How a setting is told in a scene's label."""


class Scene(msgspec.Struct, frozen=True):
    """Settings under a label. `swept`: policies are tried at many loads, and their highest rates are looked for."""

    label: str
    config: SweepConfig
    swept: bool


def scenes_of(paper: Paper, config: ExperimentConfig) -> list[Scene]:
    """All scenes whose label contains `config.only`. Raises ConfigError for settings that cannot be used."""
    quick: dict[str, Any] = (QUICK | paper.quick) if config.quick else {}
    quick |= {"seeds": config.seeds} if config.seeds else {}
    grid = paper.grid | quick.pop("grid", {})
    scenes = [
        _scene(paper.settings, scene, point, quick, config)
        for scene in paper.scene or ({},)
        for point in (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
    ]
    chosen = [scene for scene in scenes if config.only in scene.label]
    if not chosen:
        raise ConfigError(f"`only`: no scene has {config.only!r} in its label; there are: {_labels(scenes)}")
    return chosen


def _scene(
    shared: Mapping[str, Any],
    scene: Mapping[str, Any],
    point: Mapping[str, Any],
    quick: Mapping[str, Any],
    config: ExperimentConfig,
) -> Scene:
    own = {key: value for key, value in scene.items() if key != "label"}
    raw = {**shared, **own, **point, **quick, "jobs": config.jobs}
    label = ", ".join(part for part in (scene.get("label", ""), *map(_told, point.items())) if part)
    if "trace" in raw:
        raw["trace"] = trace_in(config.traces, raw["trace"])
    settings = convert(raw, SweepConfig, label or "settings")
    if LOADS in raw:
        check_sweep(settings)
    return Scene(label, settings, LOADS in raw)


def _told(setting: tuple[str, Any]) -> str:
    key, value = setting
    if key == "trace":
        return Path(value).stem
    return WORDS[key].format(value) if key in WORDS else f"{key} = {value}"


def _labels(scenes: list[Scene]) -> str:
    return ", ".join(repr(scene.label) for scene in scenes)
