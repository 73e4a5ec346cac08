"""Chunks never end a message by accident."""

import pytest

from pointsman.wire.http1.framing import chunk


def test_chunk() -> None:
    assert chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"


def test_empty_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        chunk(b"")
