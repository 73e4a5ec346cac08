"""A head is recognised by all its bytes but the digits of its length."""

import pytest

from pointsman.wire.http1.repeated import Repeated


def repeated(raw: bytes) -> Repeated[str]:
    known = Repeated[str]()
    known.remember(raw, "head")
    return known


RAW = b"POST / HTTP/1.1\r\nA: 1\r\ncontent-LENGTH: \t5\r\nB: 2\r\n\r\n"


@pytest.mark.parametrize(("digits", "body"), [(b"5", b"hello"), (b"0", b""), (b"12", b"x" * 12)])
def test_any_length(digits: bytes, body: bytes) -> None:
    known = repeated(RAW)
    assert known.head == "head"
    again = RAW.replace(b"5", digits)
    assert known.body_at(again + body) == len(again)
    assert known.body_at(again + body + b"x") == -1
    assert known.body_at((again + body)[:-1]) == -1


@pytest.mark.parametrize("digits", [b"", b"05", b"+5", b" 5", b"5 ", b"\xb2", b"0000000005", b"5\r\n"])
def test_odd_lengths_are_not_recognised(digits: bytes) -> None:
    known = repeated(RAW)
    assert known.body_at(RAW.replace(b"5", digits) + b"hello") == -1


@pytest.mark.parametrize(
    "raw",
    [
        RAW.replace(b"content-LENGTH: \t5", b"C: d"),
        RAW.replace(b"content-LENGTH: \t5", b"Xcontent-length: 5"),
        RAW.replace(b"5", b"5 "),
        RAW.replace(b"5", b"0123456789"),
        RAW[:-2],
        RAW + RAW,
    ],
)
def test_what_is_not_remembered(raw: bytes) -> None:
    known = repeated(raw)
    assert known.head is None
    assert known.body_at(raw) == -1


def test_where_no_head_comes_again_none_is_remembered_any_more() -> None:
    heads = [RAW.replace(b"A: 1", b"A: %d" % i) for i in range(10, 30)]
    known = repeated(RAW)
    for head in heads:
        assert known.body_at(head + b"hello") == -1
        known.remember(head, "other")
    assert known.body_at(heads[-1] + b"hello") == -1


def test_a_head_that_came_again_gives_new_patience() -> None:
    known = repeated(RAW)
    for number in range(10, 30):
        other = RAW.replace(b"A: 1", b"A: %d" % number)
        known.remember(other, "other")
        assert known.body_at(other + b"hello") == len(other)
    known.remember(RAW, "head")
    assert known.body_at(RAW + b"hello") == len(RAW)


def test_every_size() -> None:
    known = repeated(RAW)
    for length in (*range(1200), 9_999, 10_000, 99_999, 100_000):
        head = RAW.replace(b"5", b"%d" % length)
        assert known.body_at(head + b"x" * length) == len(head)
        assert known.body_at(head + b"x" * (length + 1)) == -1
