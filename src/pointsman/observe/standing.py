"""Why nodes that serve a model were not among those a request could go to, at one moment.

Strategy: a moment costs a copy of three short columns, and only where some node was left out. The words are found when
somebody asks, by elimination: a node's health first, then its room, then what the request had met there before.
"""

from collections.abc import Container

import msgspec

from pointsman.brain.fleet import IN_USE, Fleet
from pointsman.brain.model.node import NodeState

DETAILED = 64
"""Nodes up to which details are kept of every decision: their memory stays small."""
APART = "not for this request: kept apart, on trial or beyond its tenant's share"
IN_TURN = "in use: asked in its turn"
"""Of a node that is well, by a request that joins a queue: no policy has been asked then."""


class PassedOver(msgspec.Struct, frozen=True):
    """A node that serves the model and could not be chosen, and why."""

    node: str
    why: str


class Standing(msgspec.Struct, frozen=True, gc=False):
    """States, requests held and bounds of all rows of a small fleet, as they were."""

    states: list[NodeState]
    outstanding: list[float]
    bounds: list[float]

    @classmethod
    def of(cls, fleet: Fleet) -> "Standing | None":
        """As it is now; None of a fleet too large for that."""
        count = len(fleet)
        if count > DETAILED:
            return None
        cells = fleet.cells
        return cls(fleet.states[:], cells.outstanding[:count].tolist(), fleet.bounds.bound_cells[:count].tolist())

    def passed_over(
        self, fleet: Fleet, model: str, candidates: Container[int], failed: Container[str], otherwise: str = APART
    ) -> list[PassedOver]:
        """The nodes that serve the model, without the `candidates` (rows); `failed` are those tried before.

        `otherwise` is told of those that are well and have room.
        """
        rows = [row for row in fleet.serves(model) if row < len(self.states) and row not in candidates]
        named = ((row, fleet.spec(row).name) for row in rows)
        return [PassedOver(name, self._why(row, name in failed) or otherwise) for row, name in named]

    def _why(self, row: int, failed: bool) -> str:
        state = self.states[row]
        if state not in IN_USE:
            return str(state)
        if failed:
            return "failed this request"
        if self.outstanding[row] >= self.bounds[row]:
            return f"full: {self.outstanding[row]:.0f} of {self.bounds[row]:.0f} requests"
        return ""
