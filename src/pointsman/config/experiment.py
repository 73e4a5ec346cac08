"""Settings of `pointsman sim experiment`, and the files that describe experiments.

An experiment asks something, says what is expected, and says which simulations would show it: `[settings]` are those of
`pointsman sim sweep`, `[grid]` has several values for some of them, and each `[[scene]]` a few that go together.
"""

import difflib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

import pointsman
from pointsman.config.flags import ConfigError, Directory, File, convert, read_toml
from pointsman.engine.settings import Positive

Experiments = Annotated[tuple[str, ...], Meta(extra={"metavar": "NAME", "positional": "yes"})]

PLACES = ("examples/experiments", "../../examples/experiments")
"""Of the shipped experiments, from the package: installed, and in a checkout."""
OURS = "fastest_completion"
"""What figures set off from the others where no champion is named."""
QUICK = {"seeds": 1, "seconds": 60.0, "refine": 0}
"""What --quick changes where the file does not say."""
FOUND_AT = {
    "mooncake_conversation_trace.jsonl": "https://github.com/kvcache-ai/Mooncake (FAST25-release/traces)",
    "AzureLLMInferenceTrace_code_2023.csv": "https://github.com/Azure/AzurePublicDataset (data)",
}
"""Where the traces of shipped experiments are published."""


class ExperimentConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim experiment NAME`."""

    name: Annotated[
        Experiments, Meta(max_length=1, description="the experiment, by name or file; without it, all are listed")
    ] = ()
    quick: Annotated[bool, Meta(description="a small version: to see that it runs, not to conclude")] = False
    only: Annotated[str, Meta(description="run only the scenes whose label contains this")] = ""
    seeds: Annotated[Positive | None, Meta(description="runs of each policy, if not as in the file")] = None
    traces: Annotated[Directory, Meta(description="where trace files lie")] = "."
    jobs: Annotated[Positive | None, Meta(description="runs at a time (default: as many as there are CPUs)")] = None
    out: Annotated[File, Meta(description="write results here; those of `only` some beside the others")] = ""
    report: Annotated[File, Meta(description="write an HTML report to this file")] = ""
    json: Annotated[bool, Meta(description="print the results as JSON on stdout and nothing else")] = False


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is expected of one figure. `order`: policies, from its greatest value to its least. Or `policy`: its value,
    or that divided by the value of `over` or in the scene `over_scene`, is `at_least` or `at_most` so much.

    `scene`: part of the label of the scenes in which it is to hold (all, if ""); `load`: where loads were swept.
    """

    says: str
    figure: str
    order: tuple[str, ...] = ()
    policy: str = ""
    over: str = ""
    scene: str = ""
    over_scene: str = ""
    load: float | None = None
    at_least: float | None = None
    at_most: float | None = None


class TableSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to show: a table a scene with these figures side by side, or one a figure with the scenes side by side.

    `scene`: part of the labels of those to show (all, if ""); `load`: only that one of those swept.
    """

    figures: Annotated[tuple[str, ...], Meta(min_length=1)]
    by: Literal["scene", "figure"] = "scene"
    scene: str = ""
    load: float | None = None


class Paper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of an experiment. `answer`: what came out, written by whoever has looked at the results (Markdown).

    `champion`: the policy that is put against the best of all others; `chart`: figures to draw.
    """

    title: str
    question: str
    answer: str = ""
    settings: dict[str, Any]
    grid: dict[str, Annotated[list[Any], Meta(min_length=1)]] = {}
    scene: tuple[dict[str, Any], ...] = ()
    quick: dict[str, Any] = {}
    table: Annotated[tuple[TableSpec, ...], Meta(min_length=1)]
    claim: tuple[Claim, ...] = ()
    champion: str = ""
    chart: tuple[str, ...] = ()


def shipped() -> dict[str, Path]:
    """Files of the experiments that come with the package, by name."""
    package = Path(pointsman.__file__).parent
    found = sorted(path for place in PLACES for path in (package / place).resolve().glob("*.toml"))
    return {path.stem: path for path in found if "question" in read_toml(str(path))}


def paper_of(name: str) -> Paper:
    """The experiment of that name, or in that file. Raises ConfigError."""
    known = shipped()
    path = known.get(name, Path(name))
    if name not in known and path.suffix != ".toml":
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"`name`: no experiment {name!r}; {hint}there are: {', '.join(known)}, or name a .toml file")
    return convert(read_toml(str(path)), Paper, str(path))


def trace_in(directory: str, name: str) -> str:
    """Where the trace lies. Raises ConfigError where it does not."""
    path = Path(directory) / name
    if not path.is_file():
        published = f"; it is published at {FOUND_AT[name]}" if name in FOUND_AT else ""
        raise ConfigError(f"`traces`: {directory} has no {name}{published}")
    return str(path)
