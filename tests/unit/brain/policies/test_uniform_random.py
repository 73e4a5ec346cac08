from typing import Any

import numpy as np

from pointsman.brain.model.draw import draw


def test_state_does_not_matter(choose: Any) -> None:
    counts = np.bincount([choose("random", outstanding=[0.0, 50.0], draw=draw(1, i)).index for i in range(400)])
    assert counts.min() > 150
