"""The matrix covers what it should."""

from .cells import CELLS, QUICK, Cell, Fault, Phase, candidates, impossible
from .expected import End, expected


def test_there_are_more_than_500_cells() -> None:
    assert 500 < len(CELLS) == len(set(CELLS))


def test_every_fault_and_phase_and_mode_has_cells() -> None:
    for cells in (CELLS, QUICK):
        assert {cell.fault for cell in cells} == set(Fault)
        assert {cell.phase for cell in cells} == set(Phase)
        assert {(cell.stream, cell.leaves, cell.everywhere) for cell in cells} >= {
            (stream, *where) for stream in (True, False) for where in ((False, False), (True, False), (False, True))
        }


def test_what_cannot_exist_has_a_reason() -> None:
    assert all(impossible(cell) != "" for cell in candidates())


def test_a_second_try_is_expected_only_before_anything_was_seen() -> None:
    for cell in CELLS:
        if expected(cell).tries > 1:
            assert cell.phase in (Phase.QUEUED, Phase.CONNECTING, Phase.BEFORE_HEADERS, Phase.AFTER_HEADERS,
                                  Phase.AFTER_ROLE, Phase.IDLE), cell  # fmt: skip


def test_only_what_the_client_has_seen_is_cut() -> None:
    assert expected(Cell(Fault.RESET, Phase.MIDDLE, True)).end is End.CUT
    assert expected(Cell(Fault.RESET, Phase.MIDDLE, False)).end is End.BROKEN
    assert expected(Cell(Fault.RESET, Phase.AFTER_ROLE, True)).end is End.WHOLE
    assert expected(Cell(Fault.RESET, Phase.AFTER_ROLE, True, everywhere=True)).status == 502
