"""Who waits is told where it stands, as often as that says something new."""

from typing import Any

import pytest

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.standing import Standing
from pointsman.gateway.announcer import Announcer, wants_progress


class Reply:
    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.comments: list[bytes] = []

    def promise(self, lines: bytes, _: Any) -> None:
        self.heads.append(lines)

    def comment(self, text: bytes) -> None:
        self.comments.append(text)


def announcer() -> tuple[Announcer, Reply]:
    reply: Any = Reply()
    return Announcer(reply, b"req-1", lambda error: error), reply


def test_only_one_and_zero_are_wishes() -> None:
    assert wants_progress({b"x-pointsman-progress": b"1"})
    assert not wants_progress({b"x-pointsman-progress": b"0"})
    assert not wants_progress({})
    with pytest.raises(BadRequest, match="must be 1"):
        wants_progress({b"x-pointsman-progress": b"yes"})


def test_the_position_and_what_is_expected() -> None:
    one, reply = announcer()
    one.tell(Standing(3, 1.24), 10.0)
    assert reply.comments == [b"pointsman position=3 expected_wait_s=1.2"]
    assert reply.heads[0].startswith(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream")
    assert b"x-request-id: req-1\r\n" in reply.heads[0]


def test_what_nobody_knows_is_not_told() -> None:
    one, reply = announcer()
    one.tell(Standing(1, None), 0.0)
    assert reply.comments == [b"pointsman position=1"]


def test_a_change_is_told_but_not_too_often() -> None:
    one, reply = announcer()
    for now, position in ((0.0, 9), (0.25, 8), (0.5, 7), (0.75, 7), (1.0, 7), (1.25, 6)):
        one.tell(Standing(position, None), now)
    assert reply.comments == [b"pointsman position=9", b"pointsman position=7", b"pointsman position=6"]


def test_one_who_does_not_move_is_kept_alive() -> None:
    one, reply = announcer()
    for quarter in range(45):
        one.tell(Standing(2, 11.0 - quarter / 4), quarter / 4)
    assert reply.comments == [f"pointsman position=2 expected_wait_s={left}".encode() for left in (11.0, 6.0, 1.0)]
