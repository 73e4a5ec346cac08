from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.request import Request
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.window import regrets, stacked

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


def test_regret_is_the_distance_to_the_second_best_and_none_where_the_best_is_shut() -> None:
    scores = np.array([[3.0, 1.0, 9.0], [2.0, 5.0, 4.0]])
    open_ = np.array([False, True, True])
    assert regrets(scores, open_, np.zeros(2)).tolist() == [2.0, -1.0]
    assert regrets(scores, np.stack([~open_, ~open_]), np.zeros(2)).tolist() == [-1.0, 2.0]


def test_alone_a_ticket_loses_what_is_said() -> None:
    assert regrets(np.array([[3.0], [1.0]]), np.array([True]), np.array([7.0, 8.0])).tolist() == [7.0, 8.0]
