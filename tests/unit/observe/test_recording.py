import errno
from typing import Any

import msgspec
import pytest

from pointsman.brain.model.facts import Queued, Refused
from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.request import Request
from pointsman.observe.recording import LINES_AT_ONCE, Flushing, Recorder
from pointsman.workload.recording_line import Recorded


class Book:
    """A recorder and the lines it has written."""

    def __init__(self, **more: int) -> None:
        self.writes: list[bytes] = []
        self.recorder = Recorder(self.writes.append, **more)  # type: ignore[arg-type]

    def tell(self, *facts: Any) -> list[Recorded]:
        for fact in facts:
            self.recorder(fact)
        self.recorder.flush()
        lines = b"".join(self.writes).splitlines()
        return [msgspec.json.decode(line, type=Recorded) for line in lines]


def left(recorder: Recorder) -> list[dict[int, Any]]:
    """What it still remembers."""
    return [recorder._queued_at, recorder._tries, recorder._ttft, recorder._failed]


def test_a_request_that_went_well(life: Any) -> None:
    one = life()
    usage = {"prompt_tokens": 120, "completion_tokens": 30, "cached_tokens": 64}
    streamed = Request(id="r1", model="m", stream=True)
    one.common["request"] = streamed
    [line] = Book().tell(one.placed(), one.first_token(0.75), one.ended(12.0, **usage))
    assert (line.timestamp, line.wait_ms, line.ttft_ms, line.total_ms) == (10_000.0, 500.0, 750.0, 2000.0)
    assert (line.input_length, line.output_length, line.cached_length) == (120, 30, 64)
    assert (line.outcome, line.reason, line.node, line.tries) == ("ok", "done", "a", 1)


def test_the_first_byte_of_a_plain_answer_is_no_token(life: Any) -> None:
    one = life()
    [line] = Book().tell(one.placed(), one.first_token(0.75), one.ended(12.0))
    assert line.ttft_ms is None


def test_nothing_is_written_before_a_request_is_over(life: Any) -> None:
    assert Book().tell(life().placed()) == []


def test_a_second_try_is_one_line_with_the_first_submission(life: Any) -> None:
    book, first, second = Book(), life(), life(2, node="b", waited_s=1.5)
    failed = first.ended(11.0, final=False, verdict=Verdict.FAIL, delivered=False)
    [line] = book.tell(first.placed(), failed, second.placed(attempt=2), second.ended(13.0))
    assert (line.node, line.tries, line.wait_ms, line.total_ms) == ("b", 2, 1500.0, 3000.0)
    assert not any(left(book.recorder))


def test_a_failure_that_its_client_is_told_of_is_one_refusal(life: Any) -> None:
    book, one = Book(), life()
    failed = one.ended(11.0, verdict=Verdict.FAIL, reason="connect", delivered=False)
    [line] = book.tell(one.placed(), failed, Refused(11.0, 1, one.common["request"], "node_failed", 502))
    assert (line.outcome, line.reason, line.status, line.node, line.tries) == ("refused", "node_failed", 502, "a", 1)
    assert not any(left(book.recorder))


def test_a_failure_in_the_midst_of_an_answer(life: Any) -> None:
    one = life()
    [line] = Book().tell(one.placed(), one.ended(11.0, verdict=Verdict.FAIL, reason="reset", delivered=True))
    assert (line.outcome, line.reason) == ("fail", "reset")


def test_a_client_that_left_the_queue() -> None:
    request = Request(id="r", model="m", prompt_tokens=50.0)
    book = Book()
    [line] = book.tell(Queued(3.0, 1, request, 1), Refused(8.0, 1, request, "client_left", 499))
    assert not any(left(book.recorder))
    assert (line.timestamp, line.total_ms, line.reason, line.input_length) == (3000.0, 5000.0, "client_left", 50)


def test_lines_are_written_a_few_at_a_time(life: Any) -> None:
    book = Book()
    for number in range(LINES_AT_ONCE + 1):
        book.recorder(life(number).ended(12.0))
    assert len(book.tell()) == LINES_AT_ONCE + 1
    assert len(book.writes) == 2


def test_what_a_slow_disk_cannot_take_is_counted(life: Any, caplog: pytest.LogCaptureFixture) -> None:
    book = Book(most_pending=2)
    assert len(book.tell(*[life(number).ended(12.0) for number in range(4)])) == 2
    assert book.recorder.dropped == 2
    assert caplog.text.count("leaves out requests") == 1


def test_a_full_disk_ends_the_recording_and_not_the_service(life: Any, caplog: pytest.LogCaptureFixture) -> None:
    def full(_lines: bytes) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    recorder = Recorder(full)
    for _ in range(2):
        recorder(life().ended(12.0))
        recorder.flush()
    assert caplog.text.count("the recording ends here") == 1


def test_closing_writes_what_is_left(life: Any) -> None:
    book = Book()
    flushing = Flushing(book.recorder)
    flushing.start()
    book.recorder(life().ended(12.0))
    flushing.close()
    assert len(book.writes) == 1
