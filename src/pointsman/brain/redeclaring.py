"""What follows when a node in use is declared otherwise: other limits, another machine, other models.

What is left to be learned again (`slots`, `kv_tokens`, `models` taken out of the declaration) keeps its last value
until the next report, so a node serves on through the change.
"""

from pointsman.brain.estimates import Estimates
from pointsman.brain.fleet import Fleet, declared_blocks
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.placement import Placement


def same_endpoint(one: NodeSpec, other: NodeSpec) -> bool:
    """Whether both are the same engine at the same place, whatever else is said of it."""
    return (one.url, one.rank, one.engine) == (other.url, other.rank, other.engine)


def redeclare(row: int, spec: NodeSpec, fleet: Fleet, placement: Placement, estimates: Estimates, now: float) -> None:
    """The node at `row` is as `spec` says from now on. Mutates specs, models and columns, but neither cap nor state."""
    before = fleet.spec(row)
    fleet.specs[row] = spec
    if spec.models:
        fleet.models[row] = frozenset(spec.models)
    if spec.slots is not None:
        fleet.columns.slots[row] = spec.slots
    if _memory(spec) != _memory(before):
        _resize(row, spec, fleet, placement)
    if before.residency == "commanded" != spec.residency:
        placement.uncommand(row, now)
    if _machine(spec) != _machine(before):
        estimates.remove(row)
        estimates.add(row, spec, now)
    placement.residency.declare(row)
    fleet.touch()


def _resize(row: int, spec: NodeSpec, fleet: Fleet, placement: Placement) -> None:
    fleet.columns.block_tokens[row] = spec.block_tokens
    if spec.kv_tokens is not None:
        placement.pool.resize(row, declared_blocks(spec))
    placement.pool.lay(row, spec)
    placement.resized(row)


def _memory(spec: NodeSpec) -> tuple[int | None, int, str, int, float]:
    return spec.kv_tokens, spec.block_tokens, spec.kv_layout, spec.kv_split_tokens, spec.kv_short_share


def _machine(spec: NodeSpec) -> tuple[str, str, int]:
    return spec.profile, spec.hardware, spec.tensor_parallel
