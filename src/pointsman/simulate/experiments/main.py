"""The command: list experiments, or run one and say what came of its claims."""

from collections.abc import Sequence
from os import cpu_count
from pathlib import Path

import msgspec
from rich.console import Console

from pointsman.config.experiment import ExperimentConfig, Paper, paper_of, shipped
from pointsman.config.outputs import check_output
from pointsman.simulate.cases import Case, Measured
from pointsman.simulate.command import guarded, print_json, simulated, write
from pointsman.simulate.experiments.conduct import Measure, check, conducted
from pointsman.simulate.experiments.grid import Scene, scenes_of
from pointsman.simulate.experiments.results import Results
from pointsman.simulate.experiments.tell import listed, tell


def experiment(config: ExperimentConfig) -> int:
    """`pointsman sim experiment`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    if not config.name:
        listed(shipped(), Console())
        return 0
    paper, name = paper_of(config.name[0]), Path(config.name[0]).stem
    scenes = scenes_of(paper, config)
    check(paper, scenes)
    if config.out:
        check_output(config.out, "out")
    err = Console(stderr=True)
    found = guarded(lambda: _conducted(name, paper, scenes, config, err), "experiment", err)
    if isinstance(found, int):
        return found
    if config.out:
        write("results", config.out, as_text(found), "out", err)
    if config.json:
        print_json(msgspec.to_builtins(found))
    else:
        tell(paper, found, Console())
    return 0


def as_text(results: Results) -> str:
    """JSON with a line a row, so that a difference between two versions can be read."""
    plain = msgspec.to_builtins(results)
    rows = ",\n".join("  " + msgspec.json.encode(row).decode() for row in plain.pop("rows"))
    head = msgspec.json.format(msgspec.json.encode(plain), indent=1).decode().removesuffix("\n}")
    return f'{head},\n "rows": [\n{rows}\n ]\n}}\n'


def _conducted(name: str, paper: Paper, scenes: Sequence[Scene], config: ExperimentConfig, err: Console) -> Results:
    jobs = config.jobs or cpu_count() or 1

    def measure_for(scene: Scene) -> Measure:
        place = scenes.index(scene) + 1
        err.print(f"scene {place} of {len(scenes)}: {scene.label or name}", markup=False, highlight=False)

        def measure(cases: Sequence[Case]) -> list[Measured]:
            return simulated(cases, jobs, scene.config.seconds, err) if cases else []

        return measure

    return conducted(name, paper, scenes, measure_for, quick=config.quick)
