"""The documentation holds together: no link leads nowhere, and examples of configuration are valid."""

import re
import tomllib
from pathlib import Path

import pytest

from pointsman.config.catalogue import GpuFile
from pointsman.config.compare import CompareConfig
from pointsman.config.experiment import ExperimentConfig, Paper
from pointsman.config.flags import convert
from pointsman.config.plan import ChainsConfig, servers_of
from pointsman.config.serve import ServeConfig, all_nodes, policy_table
from pointsman.config.sim import fleet_of, incidents_of
from pointsman.simulate.experiments.conduct import check
from pointsman.simulate.experiments.grid import scenes_of

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TOML = re.compile(r"```toml\n(.*?)```", re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The fragments that headings of `page` can be linked by."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, fragment = target.partition("#")
        aim = (page.parent / path).resolve() if path else page
        assert aim.exists(), f"{target} does not exist"
        assert not fragment or fragment in anchors(aim), f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_configuration_are_valid(page: Path) -> None:
    for example in TOML.findall(page.read_text(encoding="utf-8")):
        if page.name == "plan-chains.md":
            servers_of(convert(tomllib.loads(example), ChainsConfig, page.name))
            continue
        if "question" in example:
            paper = convert(tomllib.loads(example), Paper, page.name)
            check(paper, scenes_of(paper, ExperimentConfig()))
            continue
        if "tflops" in example:
            convert(tomllib.loads(example), GpuFile, page.name)
            continue
        if page.name == "simulate.md":
            simulated = convert(tomllib.loads(example), CompareConfig, page.name)
            incidents_of(simulated, fleet_of(simulated))
            continue
        config = convert(tomllib.loads(example), ServeConfig, page.name)
        all_nodes(config)
        policy_table(config)
