"""Views of few nodes, as policies may work on: candidate by candidate, or in arrays."""

from math import inf
from typing import Any

import numpy as np
from hypothesis import strategies as st

from pointsman.brain.model.view import FEW, Cells, View

AMOUNTS = st.floats(0.0, 1e6)
FEW_NODES = st.lists(
    st.fixed_dictionaries(
        {
            "outstanding": AMOUNTS,
            "running": AMOUNTS,
            "slots": st.floats(1.0, 512.0),
            "kv_capacity": st.sampled_from([1.0, 16.0, 64.0, 1e5, inf]),
            "kv_reserved": AMOUNTS,
            "kv_cached": AMOUNTS,
            "block_tokens": st.floats(1.0, 64.0),
            "backlog_tokens": AMOUNTS,
            "backlog_pairs": AMOUNTS,
            "prefilled_seconds": st.floats(0.0, 10.0),
            "context_tokens": AMOUNTS,
            "reported_load": st.floats(0.0, 2.0),
            "service_seconds": st.floats(0.0, 100.0),
            "prefill_base": st.floats(0.0, 1.0),
            "prefill_per_token": st.floats(0.0, 1e-2),
            "prefill_per_pair": st.floats(0.0, 1e-6),
            "tpot_base": st.floats(0.0, 0.1),
            "tpot_per_sequence": st.floats(0.0, 1e-2),
            "tpot_per_context": st.floats(0.0, 1e-5),
            "prediction_error": st.floats(0.0, 2.0),
        }
    ),
    min_size=1,
    max_size=FEW,
)


def views(nodes: list[dict[str, float]], share: float, prompt: int) -> tuple[View, View]:
    """The same view with and without the cells that let it be read candidate by candidate."""
    cells = Cells(len(nodes))
    for row, node in enumerate(nodes):
        for name, amount in node.items():
            getattr(cells, name)[row] = amount
    rows = np.arange(len(nodes))
    depths = [share * prompt * (row % 2) for row in range(len(nodes))]
    given: dict[str, Any] = {"overlap": depths, "prompt_tokens": prompt, "output_tokens": 50, "whole": True}
    return View(cells.columns(), rows, cells=cells, **given), View(cells.columns(), rows, **given)
