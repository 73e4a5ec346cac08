"""The listening sockets of one port, one for each worker: the kernel spreads the connections over them.

A socket belongs to a slot and outlives the worker that serves it. So a connection that was made while a worker ends
is not lost: it waits until the next one takes it. Where none can be had, the socket is closed: the kernel then gives
new connections to the other slots.
"""

import socket
from contextlib import ExitStack
from typing import Any

from pointsman.gateway.app import BACKLOG


def listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """So many sockets that listen on the port (0: any, but one and the same). Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    if port:
        _demand_free(family, address)
    with ExitStack() as on_error:
        sockets = [on_error.enter_context(_bound(family, address))]
        sockets += [on_error.enter_context(another(sockets[0])) for _ in range(count - 1)]
        for each in sockets:
            each.listen(BACKLOG)
        on_error.pop_all()
        return sockets


def another(like: socket.socket) -> socket.socket:
    """One more socket of the same address. It gets no connections until its worker listens. Raises OSError."""
    return _bound(like.family, like.getsockname())


def _bound(family: int, address: Any) -> socket.socket:
    with ExitStack() as on_error:
        one = on_error.enter_context(socket.socket(family, socket.SOCK_STREAM))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        one.bind(address)
        one.setblocking(False)
        on_error.pop_all()
        return one


def _demand_free(family: int, address: Any) -> None:
    """Bind the address alone for a moment: sharing it with another gateway of ours would go unnoticed otherwise."""
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(address)
