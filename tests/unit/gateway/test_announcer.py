"""Who waits is told where it stands, as often as that says something new."""

from typing import Any

import pytest

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.standing import Standing
from pointsman.gateway.announcer import Announcer, wants_progress
from pointsman.gateway.reply import Reply
from pointsman.wire.http1.messages import RequestHead

HEAD = RequestHead(
    method=b"POST", target=b"/", path=b"/", fields={}, onward=b"", keep_alive=True, modern=False, expects_continue=False
)


class Sent:
    """What goes to the client, who is an old one: its stream has no chunks."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.comments: list[bytes] = []

    def write(self, data: bytes) -> None:
        if data.startswith(b": "):
            self.comments.append(data.removeprefix(b": ").removesuffix(b"\n\n"))
        else:
            self.heads.append(data)


def announcer() -> tuple[Announcer, Sent]:
    sent: Any = Sent()
    return Announcer(Reply(sent, HEAD), b"req-1", lambda error: error), sent


def test_only_one_and_zero_are_wishes() -> None:
    assert wants_progress({b"x-pointsman-progress": b"1"})
    assert not wants_progress({b"x-pointsman-progress": b"0"})
    assert not wants_progress({})
    with pytest.raises(BadRequest, match="must be 1"):
        wants_progress({b"x-pointsman-progress": b"yes"})


def test_the_position_and_what_is_expected() -> None:
    one, sent = announcer()
    one.tell(Standing(3, 1.24), 10.0)
    assert sent.comments == [b"pointsman position=3 expected_wait_s=1.2"]
    assert sent.heads[0].startswith(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream")
    assert b"x-request-id: req-1\r\n" in sent.heads[0]


def test_what_nobody_knows_is_not_told() -> None:
    one, sent = announcer()
    one.tell(Standing(1, None), 0.0)
    assert sent.comments == [b"pointsman position=1"]


def test_a_change_is_told_but_not_too_often() -> None:
    one, sent = announcer()
    for now, position in ((0.0, 9), (0.25, 8), (0.5, 7), (0.75, 7), (1.0, 7), (1.25, 6)):
        one.tell(Standing(position, None), now)
    assert sent.comments == [b"pointsman position=9", b"pointsman position=7", b"pointsman position=6"]


def test_one_who_does_not_move_is_kept_alive() -> None:
    one, sent = announcer()
    for quarter in range(45):
        one.tell(Standing(2, 11.0 - quarter / 4), quarter / 4)
    assert sent.comments == [f"pointsman position=2 expected_wait_s={left}".encode() for left in (11.0, 6.0, 1.0)]
