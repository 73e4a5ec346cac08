"""Where a body ends."""

LAST_CHUNK = b"0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """`data` as one chunk. Raises ValueError for empty data: that would end the message."""
    if not data:
        raise ValueError("an empty chunk ends the message")
    return b"%x\r\n%b\r\n" % (len(data), data)
