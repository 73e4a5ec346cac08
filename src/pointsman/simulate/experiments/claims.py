"""Whether what was expected of an experiment came out, and by how much."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise

import msgspec

from pointsman.config.experiment import Claim
from pointsman.config.flags import ConfigError
from pointsman.observe.columns import TIE
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.results import Row, told

Key = tuple[str, float | None]
"""A scene, and a load where loads were swept."""
Tables = Mapping[Key, Mapping[str, Row]]
"""Rows that have the figure, by place and policy."""


class Verdict(msgspec.Struct, frozen=True):
    """Of a claim in one scene. `measured`: the figures it rests on, as text."""

    scene: str
    load: float | None
    holds: bool
    measured: str


def judged(claim: Claim, rows: Iterable[Row]) -> list[Verdict]:
    """In every scene and at every load that the claim speaks of. Raises ConfigError for a policy that was not run."""
    tables = _tables(claim.figure, rows)
    keys = [key for key in tables if claim.scene in key[0] and claim.load in (None, key[1])]
    if claim.over_scene:
        keys = [key for key in keys if claim.over_scene not in key[0]]
    return [_verdict(claim, key, tables) for key in keys]


def check_claim(claim: Claim, policies: Set[str]) -> None:
    """Whether it can be judged where these policies are run. Raises ConfigError."""
    figure(claim.figure)
    for name in filter(None, (*claim.order, claim.policy, claim.over)):
        if name not in policies:
            raise ConfigError(f"claim {claim.says!r}: {name!r} is not run; there are: {', '.join(sorted(policies))}")
    if bool(claim.order) == bool(claim.policy):
        raise ConfigError(f"claim {claim.says!r}: give either `order` or `policy`")
    if claim.policy and (claim.at_least is None) == (claim.at_most is None):
        raise ConfigError(f"claim {claim.says!r}: give either `at_least` or `at_most`")


def _tables(name: str, rows: Iterable[Row]) -> Tables:
    found: dict[Key, dict[str, Row]] = {}
    for row in rows:
        if name in row.figures:
            found.setdefault((row.scene, row.load), {})[row.policy] = row
    return found


def _verdict(claim: Claim, key: Key, tables: Tables) -> Verdict:
    if claim.order:
        return _ordered(claim, key, [_row(claim, tables[key], name) for name in claim.order])
    row = _row(claim, tables[key], claim.policy)
    value, kind = row.figures[claim.figure], figure(claim.figure)
    if not claim.over and not claim.over_scene:
        return Verdict(*key, _inside(claim, kind.scale * value), f"{told(row, claim.figure)} {kind.unit}".strip())
    other = _row(claim, _beside(claim, key, tables), claim.over or claim.policy)
    beside = other.figures[claim.figure]
    text = f"{told(row, claim.figure)} / {told(other, claim.figure)}"
    if not value and not beside:
        return Verdict(*key, True, f"{text}, equal")  # nothing is any number of times nothing
    ratio = value / beside if beside else float("inf")
    return Verdict(*key, _inside(claim, ratio), f"{text} = {ratio:.2f} ×")


def _beside(claim: Claim, key: Key, tables: Tables) -> Mapping[str, Row]:
    """What to divide by: of the same scene, or of the one that is named, at the same load."""
    if not claim.over_scene:
        return tables[key]
    for (scene, load), rows in tables.items():
        if claim.over_scene in scene and load == key[1]:
            return rows
    raise ConfigError(f"claim {claim.says!r}: no scene has {claim.over_scene!r} in its label")


def _row(claim: Claim, rows: Mapping[str, Row], policy: str) -> Row:
    if policy not in rows:
        raise ConfigError(f"claim {claim.says!r}: {claim.figure} of {policy!r} was not measured")
    return rows[policy]


def _ordered(claim: Claim, key: Key, rows: Sequence[Row]) -> Verdict:
    """Whether their values fall, each by more than a tie."""
    falls = [one.figures[claim.figure] > other.figures[claim.figure] * (1 + TIE) for one, other in pairwise(rows)]
    signs = ["", *(" > " if one else " ≯ " for one in falls)]
    text = "".join(sign + told(row, claim.figure) for sign, row in zip(signs, rows, strict=True))
    return Verdict(*key, all(falls), f"{text} {figure(claim.figure).unit}".strip())


def _inside(claim: Claim, value: float) -> bool:
    if claim.at_least is not None:
        return value >= claim.at_least
    return claim.at_most is None or value <= claim.at_most
