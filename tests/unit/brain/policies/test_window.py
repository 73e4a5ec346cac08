from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.request import Request
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.window import stacked

REQUEST = Request(id="r", model="m", prompt_tokens=1000.0)


@pytest.mark.parametrize("kv_reserved", [0.0, 950.0])
@pytest.mark.parametrize("decode_cap", [0, 3])
def test_stacked_scores_are_those_of_each_view(make_view: Any, kv_reserved: float, decode_cap: int) -> None:
    policy = build("fastest_completion", {"decode_cap": decode_cap})
    columns = {"outstanding": [1.0, 5.0, 2.0], "backlog_tokens": [10.0, 500.0, 0.0], "kv_reserved": [kv_reserved] * 3}
    views = [
        make_view(**columns, overlap=overlap, prompt_tokens=prompt, output_tokens=output)
        for overlap, prompt, output in (([0.0, 500.0, 0.0], 900.0, 10.0), ([50.0, 0.0, 0.0], 4000.0, 300.0))
    ]
    together = policy.score(REQUEST, stacked(views[:1]))
    np.testing.assert_allclose(together, [policy.score(REQUEST, views[0])])
    regrets = policy._regrets(stacked(views))  # type: ignore[attr-defined]
    alone = [policy._regrets(stacked([view]))[0] for view in views]  # type: ignore[attr-defined]
    np.testing.assert_allclose(regrets, alone)
