from typing import Any

import numpy as np
import pytest

from pointsman.brain.model.draw import draw


def test_speed_is_the_share(choose: Any) -> None:
    chosen = [choose("weighted_random", speed=[1.0, 3.0, 0.0], draw=draw(1, i)).index for i in range(2000)]
    assert np.bincount(chosen, minlength=3) / 2000 == pytest.approx([0.25, 0.75, 0.0], abs=0.04)


def test_extreme_draws_stay_inside(choose: Any) -> None:
    assert choose("weighted_random", speed=[1.0, 3.0], draw=0).index == 0
    assert choose("weighted_random", speed=[1.0, 3.0], draw=(1 << 64) - 1).index == 1
    assert choose("weighted_random", speed=[0.0, 0.0], draw=1).index in (0, 1)
