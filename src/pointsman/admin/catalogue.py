"""The policies there are, told from their code."""

import inspect

from pointsman.admin.values import PolicyInfo
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.observe.calls import PolicySpec


def policies() -> list[PolicyInfo]:
    """Every registered policy, by name."""
    return [PolicyInfo(name, summary(name), PolicySpec.of(build(name)).parameters) for name in sorted(POLICIES)]


def summary(name: str) -> str:
    """What the policy does: the first paragraph of its module's description, on one line."""
    module = inspect.getmodule(POLICIES[name])
    paragraph = (inspect.getdoc(module) or "").split("\n\n")[0]
    return " ".join(paragraph.split())
