import pytest

from pointsman.brain.model.columns import COLUMNS, Cells


@pytest.mark.parametrize("name", COLUMNS)
def test_cells_and_columns_are_one_memory(name: str) -> None:
    cells = Cells(2)
    columns = cells.columns()
    getattr(cells, name)[1] = 7.0
    getattr(columns, name)[0] = 5.0
    assert (getattr(cells, name).tolist(), getattr(columns, name).tolist()) == ([5.0, 7.0], [5.0, 7.0])


def test_gathered_rows_are_a_copy() -> None:
    columns = Cells(3).columns()
    copy = columns.gather([2, 0])  # type: ignore[arg-type]
    columns.slots[2] = 9.0
    assert copy.slots.tolist() == [0.0, 0.0]
