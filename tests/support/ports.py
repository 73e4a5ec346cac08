"""Ports for processes that are told theirs before they listen."""

import random
import socket


def free_ports(count: int) -> list[int]:
    """Different ports below those that the kernel gives to connections, which could take one before it is listened on.

    Nobody listens on them now.
    """
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(20_000, 32_000)
        if port not in found and _is_free(port):
            found.append(port)
    return found


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
