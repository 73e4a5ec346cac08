"""Chunks never end a message by accident."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.wire.http1.framing import chunk, chunk_body


def test_chunk() -> None:
    assert chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"


def test_empty_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        chunk(b"")


@pytest.mark.parametrize("size", [1, 9, 10, 15, 16, 17, 171, 255, 256, 4095, 4096, 70_000])
def test_one_whole_chunk_is_seen(size: int) -> None:
    body = b"x" * size
    for data in (chunk(body), b"%X\r\n%b\r\n" % (size, body)):
        start = chunk_body(data)
        assert data[start:-2] == body
        assert chunk_body(data + data) == chunk_body(data[:-1]) == chunk_body(data[1:]) == 0


@pytest.mark.parametrize(
    "data",
    [b"", b"0\r\n\r\n", b"01\r\nx\r\n", b"1;a=b\r\nx\r\n", b"1\nx\r\n", b"+1\r\nx\r\n", b"0x1\r\nx\r\n", b"1\r\nxx\r"],
)
def test_other_bytes_are_not_looked_into(data: bytes) -> None:
    assert chunk_body(data) == 0


@given(st.binary(max_size=40))
def test_what_is_seen_is_a_chunk(data: bytes) -> None:
    start = chunk_body(data)
    assert not start or chunk(data[start:-2]).lower() == data.lower()
