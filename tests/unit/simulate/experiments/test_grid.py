"""Scenes: every combination, each with its label and its settings."""

from pathlib import Path
from typing import Any

import pytest

from pointsman.config.experiment import ExperimentConfig, Paper, TableSpec
from pointsman.config.flags import ConfigError
from pointsman.simulate.experiments.grid import scenes_of

TABLE = (TableSpec(figures=("in_slo",)),)


def paper(**more: Any) -> Paper:
    given: dict[str, Any] = {"settings": {"seconds": 600.0, "policies": ["random"]}, "table": TABLE}
    return Paper(title="T", question="Q?", **given | more)


def test_without_a_grid_there_is_one_scene_without_a_label() -> None:
    (scene,) = scenes_of(paper(), ExperimentConfig())
    assert (scene.label, scene.swept, scene.config.seconds, scene.config.policies) == ("", False, 600.0, ("random",))


def test_scenes_are_combined_with_the_grid() -> None:
    grid = {"plain": [0.0, 0.3], "fleet": ["mixed"]}
    named = ({"label": "late", "feedback_delay_s": 1.0}, {"label": "in time"})
    found = scenes_of(paper(grid=grid, scene=named), ExperimentConfig())
    assert [scene.label for scene in found] == [
        "late, 0% plain, mixed",
        "late, 30% plain, mixed",
        "in time, 0% plain, mixed",
        "in time, 30% plain, mixed",
    ]
    assert [(scene.config.feedback_delay_s, scene.config.plain) for scene in found] == [
        (1.0, 0.0),
        (1.0, 0.3),
        (0.0, 0.0),
        (0.0, 0.3),
    ]


def test_a_setting_without_words_is_told_by_its_name() -> None:
    (scene,) = scenes_of(paper(grid={"nodes": [4]}), ExperimentConfig())
    assert scene.label == "nodes = 4"


def test_loads_make_it_a_sweep() -> None:
    (scene,) = scenes_of(paper(settings={"loads": [0.5]}), ExperimentConfig())
    assert scene.swept
    with pytest.raises(ConfigError, match="said by `loads`"):
        scenes_of(paper(settings={"loads": [0.5], "rate": 1.0}), ExperimentConfig())


def test_quick_is_smaller_and_the_file_may_say_how() -> None:
    small = {"seconds": 30.0, "grid": {"plain": [0.5]}}
    (scene,) = scenes_of(paper(grid={"plain": [0.0, 0.3]}, quick=small), ExperimentConfig(quick=True))
    assert (scene.config.seconds, scene.config.seeds, scene.config.plain) == (30.0, 1, 0.5)
    (scene,) = scenes_of(paper(settings={"seeds": 5}), ExperimentConfig(seeds=2))
    assert scene.config.seeds == 2


def test_some_scenes_only() -> None:
    grid = {"fleet": ["mixed", "uneven"]}
    (scene,) = scenes_of(paper(grid=grid), ExperimentConfig(only="une"))
    assert scene.config.fleet == "uneven"
    with pytest.raises(ConfigError, match="there are: 'mixed', 'uneven'"):
        scenes_of(paper(grid=grid), ExperimentConfig(only="nothing"))


def test_settings_are_checked_where_they_stand() -> None:
    with pytest.raises(ConfigError, match=r"mixed.*`seconds`"):
        scenes_of(paper(settings={"seconds": -1.0}, grid={"fleet": ["mixed"]}), ExperimentConfig())


def test_traces_are_looked_for_where_the_command_says(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").touch()
    (scene,) = scenes_of(paper(grid={"trace": ["t.jsonl"]}), ExperimentConfig(traces=str(tmp_path)))
    assert (scene.label, scene.config.trace) == ("t", str(tmp_path / "t.jsonl"))
