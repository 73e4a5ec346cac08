"""What the kernel knows of a connection that nobody reads."""

import asyncio
import socket

_TCP_INFO: int | None = getattr(socket, "TCP_INFO", None)  # where there is none, only a read tells
_LEFT = (7, 8)  # TCP_CLOSE after a reset, TCP_CLOSE_WAIT after a FIN


def hung_up(transport: asyncio.BaseTransport) -> bool:
    """Whether the peer has closed or reset the connection, though what it sent before may not be read yet."""
    sock: socket.socket | None = transport.get_extra_info("socket")
    if sock is None or _TCP_INFO is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    return sock.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)[0] in _LEFT
