import numpy as np
import pytest

from pointsman.brain.model.columns import COLUMNS, Cells
from pointsman.brain.model.sight import Sight


@pytest.mark.parametrize("name", COLUMNS)
def test_there_is_a_property_for_each_column(name: str) -> None:
    columns = Cells(3).columns()
    getattr(columns, name)[:] = [1.0, 2.0, 3.0]
    assert getattr(Sight(columns, np.array([2, 0]), False), name).tolist() == [3.0, 1.0]
    assert getattr(Sight(columns, np.arange(3), True), name) is getattr(columns, name)


def test_a_column_is_gathered_once() -> None:
    sight = Sight(Cells(3).columns(), np.array([2, 0]), False)
    assert sight.outstanding is sight.outstanding
