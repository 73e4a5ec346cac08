import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.load.median import median


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_it_is_numpys_median(values: list[float]) -> None:
    column = np.array(values)
    assert median(column) == pytest.approx(float(np.median(column)))
    assert column.tolist() == values
