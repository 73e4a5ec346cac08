"""Which request meets which fault."""

import pytest

from pointsman.engine.api.errors import ApiError
from pointsman.engine.api.faults import Fault, FaultBoard
from pointsman.engine.api.intake import decoder


def kinds(board: FaultBoard, count: int) -> list[str | None]:
    drawn = [board.draw() for _ in range(count)]
    return [fault.kind if fault else None for fault in drawn]


def test_a_counted_fault_wears_off() -> None:
    board = FaultBoard()
    board.add(Fault(kind="garbage", count=2))
    assert kinds(board, 3) == ["garbage", "garbage", None]
    assert board.active() == []


def test_faults_are_met_in_the_order_they_were_added() -> None:
    board = FaultBoard()
    board.add(Fault(kind="garbage", count=1))
    board.add(Fault(kind="status"))
    assert kinds(board, 3) == ["garbage", "status", "status"]


def test_a_fraction_is_the_same_every_time() -> None:
    def play() -> list[str | None]:
        board = FaultBoard()
        board.add(Fault(kind="status", fraction=0.3))
        return kinds(board, 200)

    assert play() == play()
    assert 40 < play().count("status") < 80


def test_clearing_ends_them_all() -> None:
    board = FaultBoard()
    board.add(Fault(kind="status"))
    board.clear()
    assert kinds(board, 1) == [None]


@pytest.mark.parametrize(
    "wrong", ['"n":-1', '"factor":0', '"status":-1', '"status":99999', '"count":0', '"fraction":0', '"seconds":-1']
)
def test_faults_that_cannot_be(wrong: str) -> None:
    with pytest.raises(ApiError):
        decoder(Fault)(b'{"kind":"status",%b}' % wrong.encode())
