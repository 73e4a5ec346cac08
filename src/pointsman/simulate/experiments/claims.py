"""Whether what was expected of an experiment came out, and by how much."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from pointsman.config.experiment import Claim
from pointsman.config.flags import ConfigError
from pointsman.observe.columns import TIE
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.results import Row

Key = tuple[str, float | None]
"""A scene, and a load where loads were swept."""


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


def check_claim(claim: Claim) -> None:
    """Whether it can be judged. Raises ConfigError."""
    figure(claim.figure)
    if bool(claim.order) == bool(claim.policy):
        raise ConfigError(f"claim {claim.says!r}: give either `order` or `policy`")
    if claim.policy and (claim.at_least is None) == (claim.at_most is None):
        raise ConfigError(f"claim {claim.says!r}: give either `at_least` or `at_most`")


def _tables(name: str, rows: Iterable[Row]) -> dict[Key, dict[str, float]]:
    """Values by policy, by scene and load."""
    found: dict[Key, dict[str, float]] = {}
    for row in rows:
        if name in row.figures:
            found.setdefault((row.scene, row.load), {})[row.policy] = row.figures[name]
    return found


def _verdict(claim: Claim, key: Key, tables: Mapping[Key, Mapping[str, float]]) -> Verdict:
    if claim.order:
        return _ordered(claim, key, [_value(claim, tables[key], name) for name in claim.order])
    value = _value(claim, tables[key], claim.policy)
    if not claim.over and not claim.over_scene:
        text = f"{_text(claim, value)} {figure(claim.figure).unit}"
        return Verdict(*key, _inside(claim, figure(claim.figure).scale * value), f"{text.strip()}, {_asked(claim)}")
    other = _value(claim, _beside(claim, key, tables), claim.over or claim.policy)
    ratio = value / other if other else float("inf")
    text = f"{_text(claim, value)} / {_text(claim, other)} = {ratio:.2f} ×, {_asked(claim)}"
    return Verdict(*key, _inside(claim, ratio), text)


def _beside(claim: Claim, key: Key, tables: Mapping[Key, Mapping[str, float]]) -> Mapping[str, float]:
    """The values to divide by: of the same scene, or of the one that is named, at the same load."""
    if not claim.over_scene:
        return tables[key]
    for (scene, load), values in tables.items():
        if claim.over_scene in scene and load == key[1]:
            return values
    raise ConfigError(f"claim {claim.says!r}: no scene has {claim.over_scene!r} in its label")


def _value(claim: Claim, values: Mapping[str, float], policy: str) -> float:
    if policy not in values:
        raise ConfigError(f"claim {claim.says!r}: {claim.figure} of {policy!r} was not measured")
    return values[policy]


def _ordered(claim: Claim, key: Key, values: Sequence[float]) -> Verdict:
    """Whether they fall, each by more than a tie."""
    falls = [one > other * (1 + TIE) for one, other in pairwise(values)]
    signs = [">" if one else "≯" for one in falls]
    text = _text(claim, values[0])
    for sign, value in zip(signs, values[1:], strict=True):
        text += f" {sign} {_text(claim, value)}"
    return Verdict(*key, all(falls), f"{text} {figure(claim.figure).unit}".strip())


def _inside(claim: Claim, value: float) -> bool:
    if claim.at_least is not None:
        return value >= claim.at_least
    return claim.at_most is None or value <= claim.at_most


def _asked(claim: Claim) -> str:
    return f"asked ≥ {claim.at_least:g}" if claim.at_least is not None else f"asked ≤ {claim.at_most:g}"


def _text(claim: Claim, value: float) -> str:
    return figure(claim.figure).text(value)
