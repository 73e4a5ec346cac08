"""The contract every policy keeps.

A policy is a score and a picker. `score` gives one number per candidate, lower is better (seconds where it can be);
`choose` adds the picker, or holds. Both are pure: no I/O, no clock, no logger, nothing mutated; whatever a policy wants
to remember travels through the choice's `memo`. A policy is built once, with its parameters, by the registry.
One that raises costs the request at hand an error 500, and no other request anything.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, View

# What parameters may be, checked by `registry.build`; neither NaN nor infinity is any of these.
Amount = Annotated[float, Meta(ge=0.0, le=1e9)]
Positive = Annotated[float, Meta(gt=0.0, le=1e9)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Count = Annotated[int, Meta(ge=0, le=10**9)]


class Policy:
    """Base of all policies; subclasses are frozen dataclasses whose fields are their parameters.

    `name` is the registry key. A view handed to a policy has at least one candidate.
    """

    __slots__ = ()
    name: ClassVar[str] = ""

    @property
    def binds_late(self) -> bool:
        """Whether the policy also says, through `pick`, which of the waiting tickets goes next."""
        return False

    def score(self, request: Request, view: View) -> Scores:
        """One float per candidate, lower is better."""
        raise NotImplementedError

    def choose(self, request: Request, view: View) -> Choice | Hold:
        """The candidate to use, or a hold."""
        raise NotImplementedError

    def within_limits(self, view: View) -> Flags:
        """Which candidates the rule would use at all, whatever their score; all by default."""
        return np.ones(len(view), dtype=np.bool_)

    def pick(self, requests: Sequence[Request], views: Sequence[View]) -> int:
        """Which of the waiting tickets (in admission order, one view each) to try next; the head by default.

        The views share their candidates.
        """
        return 0
