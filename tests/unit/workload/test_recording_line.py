"""A line of a recording."""

import msgspec
import pytest

from pointsman.workload.recording_line import FIELDS, Recorded, recorded


def line(**more: object) -> Recorded:
    usual: dict[str, object] = {"timestamp": 0.0, "input_length": 640, "output_length": 20, "outcome": "ok"}
    return Recorded(**usual | more)  # type: ignore[arg-type]


def test_a_line_reads_as_it_was_written() -> None:
    one = line(timestamp=1_700_000_000_123.5, hash_ids=(2**53 - 1, 7), bytes_per_hash=256, node="a", cached_length=0)
    assert recorded(msgspec.json.encode(one).decode()) == one


def test_a_line_is_one_of_mooncakes_too() -> None:
    keys = msgspec.json.decode(msgspec.json.encode(line(hash_ids=(1,), tokens_per_hash=512.0))).keys()
    assert keys >= FIELDS
    assert {"timestamp", "input_length", "output_length", "hash_ids"} <= keys


@pytest.mark.parametrize("wrong", ['{"timestamp": 1}', '{"timestamp": -1, "input_length": 1}', "{", "[]"])
def test_bad_lines_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        recorded(wrong)


def test_what_a_client_got_wrong_is_no_work() -> None:
    assert not line(status=400).is_work
    assert line(outcome="cancelled", status=499).is_work
    assert line(outcome="refused", status=429).is_work
