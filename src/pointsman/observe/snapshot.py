"""One decision with all that its policy saw, so that the choice can be made again from the record alone.

Infinite capacities and scores are written as null: JSON has no infinity.
"""

from typing import Any

import msgspec
import numpy as np

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.facts import Decided
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import COLUMNS, Columns, Floats, View
from pointsman.brain.policies.base import Policy
from pointsman.observe.calls import PolicySpec

Numbers = list[float | None]
_SCALARS = (
    "prompt_tokens",
    "output_tokens",
    "reserve_tokens",
    "now",
    "sequence",
    "draw",
    "memo",
    "ttft_objective",
    "gateways",
    "priority",
)


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A decision and its view. Lists have one entry per candidate; `chosen` is an index into them, -1 for a hold."""

    request: Request
    policy: PolicySpec
    reason: str
    chosen: int
    scores: Numbers
    rows: list[int]
    overlap: Numbers
    columns: dict[str, Numbers]
    prompt_tokens: float
    output_tokens: float
    reserve_tokens: float
    now: float
    sequence: int
    draw: int
    memo: Any
    ttft_objective: float
    gateways: int
    priority: float
    places: list[int] | None = None
    kept: Numbers | None = None

    @classmethod
    def of(cls, fact: Decided, policy: Policy) -> "Snapshot":
        """What `policy` decided in `fact`. To be taken while the fact is being told: its view is alive only then."""
        view = fact.view
        columns = view.columns if view.whole else view.columns.gather(view.nodes)
        return cls(
            request=fact.request,
            policy=PolicySpec.of(policy),
            reason=fact.reason,
            chosen=fact.chosen,
            scores=_numbers(fact.scores),
            rows=view.nodes.tolist(),
            overlap=_numbers(view.overlap),
            places=None if view.places is None else view.places.tolist(),
            kept=None if view.kept is None else _numbers(view.kept),
            columns={name: _numbers(getattr(columns, name)) for name in COLUMNS},
            **{name: getattr(view, name) for name in _SCALARS},
        )

    def view(self) -> View:
        """The view as the policy saw it."""
        return View(
            Columns(**{name: _array(self.columns[name]) for name in COLUMNS}),
            np.array(self.rows, dtype=np.intp),
            overlap=_array(self.overlap),
            whole=True,
            places=None if self.places is None else np.array(self.places, dtype=np.intp),
            kept=None if self.kept is None else _array(self.kept),
            **{name: getattr(self, name) for name in _SCALARS},
        )

    def choose_again(self) -> Choice | Hold:
        """The policy's answer to the same view. Raises UnknownPolicy if there is no such policy any more."""
        return self.policy.build().choose(self.request, self.view())

    def agrees(self, answer: Choice | Hold) -> bool:
        """Whether `answer` is the recorded one: candidate, reason and every score."""
        index = answer.index if isinstance(answer, Choice) else -1
        return (index, answer.reason, _numbers(answer.scores)) == (self.chosen, self.reason, self.scores)


def _numbers(values: Floats) -> Numbers:
    return [None if value == np.inf else value for value in values.tolist()]


def _array(values: Numbers) -> Floats:
    return np.array([np.inf if value is None else value for value in values])
