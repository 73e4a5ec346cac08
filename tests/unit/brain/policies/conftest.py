"""Hand-made views: name the columns that matter, the rest are those of an idle node of middling speed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import COLUMNS, Columns, View
from pointsman.brain.policies.registry import build

REQUEST = Request(id="r", model="m", prompt_tokens=1000.0)

IDLE = {
    "slots": 8.0,
    "kv_capacity": 1000.0,
    "block_tokens": 16.0,
    "response_seconds": 0.1,
    "service_seconds": 2.0,
    "speed": 1.0,
    "reported_gpu_busy": -1.0,
    "prefill_base": 0.01,
    "prefill_per_token": 1e-4,
    "tpot_base": 0.02,
    "tpot_per_sequence": 1e-4,
}


def build_view(*, overlap: Sequence[float] = (), nodes: Sequence[int] | None = None, **given: Any) -> View:
    """A view over as many candidates as the longest column given; `nodes` spreads them over a larger fleet."""
    columns = {name: np.asarray(given.pop(name), float) for name in COLUMNS if name in given}
    rows = max([len(overlap), len(nodes or ()), *map(len, columns.values()), 1])
    at = np.arange(rows) if nodes is None else np.asarray(nodes)
    full = {name: np.full(int(at.max()) + 1, IDLE.get(name, 0.0)) for name in COLUMNS}
    full["identity"] = np.arange(int(at.max()) + 1, dtype=float)
    for name, values in columns.items():
        full[name][at] = values
    held = np.asarray(overlap, float) if len(overlap) else np.zeros(rows)
    held.flags.writeable = False
    options = {"prompt_tokens": 1000.0, "output_tokens": 100.0, "draw": 1 << 63, "whole": nodes is None} | given
    return View(Columns(**full).read_only(int(at.max()) + 1), at, overlap=held, **options)


@pytest.fixture
def make_view() -> Callable[..., View]:
    return build_view


@pytest.fixture
def choose() -> Callable[..., Choice | Hold]:
    """choose(policy, parameters, request=..., **columns and view options)."""

    def choose_(
        name: str, parameters: dict[str, Any] | None = None, *, request: Request = REQUEST, **view: Any
    ) -> Choice | Hold:
        return build(name, parameters).choose(request, build_view(**view))

    return choose_
