"""Settings of `pointsman sim compare`: several policies, their runs in parallel, and what is left of them."""

import os
from typing import Annotated

from msgspec import Meta

from pointsman.config.demo import POLICIES
from pointsman.config.flags import ConfigError, File, Names
from pointsman.config.sim import SimConfig
from pointsman.engine.settings import Positive


class CompareConfig(SimConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim compare`: several policies on the same requests."""

    policies: Annotated[Names, Meta(min_length=1, description="policies to compare, in order")] = POLICIES
    seeds: Annotated[int, Meta(ge=1, description="runs of each policy, each with the next seed")] = 5
    jobs: Annotated[Positive | None, Meta(description="runs at a time (default: as many as there are CPUs)")] = None
    robustness: Annotated[bool, Meta(description="run all again with engines and delays that differ")] = False
    report: Annotated[File, Meta(description="write a self-contained HTML report with figures to this file")] = ""
    csv: Annotated[File, Meta(description="write every run's figures to this file, a row a run")] = ""


def jobs_of(config: CompareConfig) -> int:
    """Runs at a time."""
    return config.jobs or os.cpu_count() or 1


def check_names(config: CompareConfig) -> None:
    """Whether each policy is named once. Raises ConfigError."""
    for name in config.policies:
        if config.policies.count(name) > 1:
            raise ConfigError(f"`policies`: {name!r} is named twice")
