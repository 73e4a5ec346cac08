from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.draw import draw

COLUMNS = {"overlap": [680.0, 0.0], "backlog_tokens": [320.0, 0.0], "context_tokens": [1600.0, 160.0]}


def test_blocks_to_prefill_and_blocks_that_decode(choose: Any) -> None:
    choice = choose("dynamo_cost", **COLUMNS)
    assert choice.scores == pytest.approx([40.0 + 100.0, 62.5 + 10.0])
    assert choice.index == 1
    assert choose("dynamo_cost", {"overlap_weight": 10.0}, **COLUMNS).index == 0


def test_a_temperature_draws_among_near_equals(choose: Any) -> None:
    columns = {"context_tokens": [0.0, 160.0, 1600.0]}
    drawn = [choose("dynamo_cost", {"temperature": 0.5}, **columns, draw=draw(2, i)).index for i in range(2000)]
    weights = np.exp(-np.array([0.0, 0.1, 1.0]) / 0.5)
    assert np.bincount(drawn, minlength=3) / 2000 == pytest.approx(weights / weights.sum(), abs=0.04)
