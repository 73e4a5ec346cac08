"""The command: list experiments, or run one and say what came of its claims."""

from collections.abc import Sequence
from os import cpu_count
from pathlib import Path

import msgspec
from rich.console import Console

from pointsman.config.experiment import ExperimentConfig, Paper, paper_of, shipped
from pointsman.config.flags import ConfigError
from pointsman.config.outputs import check_apart, check_output, earlier_output
from pointsman.simulate.cases import Case, Measured
from pointsman.simulate.command import check_report, guarded, print_json, simulated, write
from pointsman.simulate.experiments.conduct import Measure, check, conducted
from pointsman.simulate.experiments.grid import Scene, scenes_of
from pointsman.simulate.experiments.report import report
from pointsman.simulate.experiments.results import Results
from pointsman.simulate.experiments.tell import listed, tell


def experiment(config: ExperimentConfig) -> int:
    """`pointsman sim experiment`; returns the exit status. Raises ConfigError when a setting cannot be used."""
    if not config.name:
        listed(shipped(), Console())
        return 0
    paper, name = paper_of(config.name[0]), Path(config.name[0]).stem
    scenes = scenes_of(paper, config)
    check(paper, scenes_of(paper, msgspec.structs.replace(config, only="")))
    read = [config.name[0], *(str(path) for path in shipped().values()), *(each.config.trace for each in scenes)]
    check_apart({"out": config.out, "report": config.report}, read)
    if config.out:
        check_output(config.out, "out")
    if config.report:
        check_report(config.report)
    before, err = _before(name, config), Console(stderr=True)
    found = guarded(lambda: _conducted(before, paper, scenes, config, err), "experiment", err)
    if isinstance(found, int):
        return found
    if config.report:
        write("report", config.report, report(paper, found), "report", err)
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


def _before(name: str, config: ExperimentConfig) -> Results:
    """What earlier runs of some scenes have left in the file, if `only` some are to be run. Raises ConfigError."""
    written = earlier_output(config.out, "out") if config.only and config.out else None
    if written is None:
        return Results(name, config.quick, {}, ())
    try:
        kept = msgspec.json.decode(written, type=Results)
    except msgspec.DecodeError as error:
        raise ConfigError(f"`out`: {config.out}: not results of an experiment: {error}") from None
    if (kept.experiment, kept.quick) != (name, config.quick):
        raise ConfigError(f"`out`: {config.out}: has results of another experiment or of its quick version")
    return kept


def _conducted(
    before: Results, paper: Paper, scenes: Sequence[Scene], config: ExperimentConfig, err: Console
) -> Results:
    """All results; what there is so far is written after every scene."""
    jobs, found = config.jobs or cpu_count() or 1, before

    def measure_for(scene: Scene) -> Measure:
        place = scenes.index(scene) + 1
        err.print(f"scene {place} of {len(scenes)}: {scene.label or before.experiment}", markup=False, highlight=False)

        def measure(cases: Sequence[Case]) -> list[Measured]:
            return simulated(cases, jobs, scene.config.seconds, err) if cases else []

        return measure

    for found in conducted(before, paper, scenes, measure_for):
        if config.out:
            write("results", config.out, as_text(found), "out", err)
    return found
