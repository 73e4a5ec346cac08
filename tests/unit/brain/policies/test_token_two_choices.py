from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.draw import draw


def test_of_two_the_one_that_computes_the_prompt_sooner(choose: Any) -> None:
    columns = {"overlap": [0.0, 900.0, 500.0], "backlog_tokens": [500.0, 0.0, 0.0], "outstanding": [0.0, 9.0, 0.0]}
    choices = [choose("token_two_choices", **columns, draw=draw(1, i)) for i in range(600)]
    chosen = np.bincount([choice.index for choice in choices], minlength=3) / 600
    assert chosen == pytest.approx([0.0, 2 / 3, 1 / 3], abs=0.06)
    assert choices[0].scores == pytest.approx([0.15, 0.01, 0.05])


def test_a_slow_node_counts_for_more(choose: Any) -> None:
    choice = choose("token_two_choices", prefill_per_token=[1e-3, 1e-4])
    assert choice.index == 1
