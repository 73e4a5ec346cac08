"""Many waiting tickets seen at once: their views stacked into one, so that a window takes a few array operations.

A stacked view is an ordinary view of the shared candidates whose request-side quantities carry a leading axis: overlap
is (tickets, candidates), prompt, output and reserved tokens and priority are (tickets, 1). Formulas written for one
ticket broadcast over it.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from pointsman.brain.model.choice import Scores
from pointsman.brain.model.view import Flags, Floats, Rows, View


def stacked(views: Sequence[View]) -> View:
    """One view of all `views`, which must share their candidates and their moment."""
    first = views[0]
    return View(
        first.columns,
        first.nodes,
        overlap=np.stack([view.overlap for view in views]),
        prompt_tokens=cast(Any, np.array([[view.prompt_tokens] for view in views])),
        output_tokens=cast(Any, np.array([[view.output_tokens] for view in views])),
        reserve_tokens=cast(Any, np.array([[view.reserve_tokens] for view in views])),
        priority=cast(Any, np.array([[view.priority] for view in views])),
        places=None if first.places is None else np.stack([cast(Rows, view.places) for view in views]),
        kept=_kept(views),
        now=first.now,
        whole=first.whole,
        ttft_objective=first.ttft_objective,
        gateways=first.gateways,
    )


def _kept(views: Sequence[View]) -> Floats | None:
    """What is kept ready for each of the tickets; None where that is nothing for all."""
    if all(view.kept is None for view in views):
        return None
    nothing = np.zeros(len(views[0]))
    return np.stack([nothing if view.kept is None else view.kept for view in views])


def regrets(scores: Scores, open_: Flags, alone: Floats) -> Floats:
    """What each ticket would lose by not getting its best node, in the unit of the scores; −1 where that is not open.

    `scores` are (tickets, candidates), `open_` the same or candidates. A ticket would get its second best; where there
    is but one candidate it loses `alone`.
    """
    best = scores.argmin(axis=1)
    at_best = np.broadcast_to(open_, scores.shape)[np.arange(len(best)), best]
    if scores.shape[1] == 1:
        return np.where(at_best, alone, -1.0)
    ordered = np.partition(scores, 1, axis=1)
    return np.where(at_best, ordered[:, 1] - ordered[:, 0], -1.0)
