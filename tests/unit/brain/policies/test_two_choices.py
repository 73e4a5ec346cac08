from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.draw import draw


def test_of_two_the_shorter_and_the_longest_of_all_never(choose: Any) -> None:
    chosen = [choose("two_choices", outstanding=[3.0, 1.0, 2.0], draw=draw(1, i)).index for i in range(600)]
    assert np.bincount(chosen, minlength=3) / 600 == pytest.approx([0.0, 2 / 3, 1 / 3], abs=0.06)
