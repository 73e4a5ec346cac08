import select
import socket
import struct
import sys
from typing import Any, cast

import pytest

from pointsman.gateway.hangup import hung_up


class Transport:
    def __init__(self, sock: socket.socket | None) -> None:
        self._sock = sock

    def get_extra_info(self, name: str) -> socket.socket | None:
        assert name == "socket"
        return self._sock


def left(sock: socket.socket | None) -> bool:
    return hung_up(cast(Any, Transport(sock)))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
@pytest.mark.parametrize("linger", [None, struct.pack("ii", 1, 0)], ids=["fin", "rst"])
def test_a_peer_that_leaves_behind_unread_bytes(linger: bytes | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer = socket.create_connection(listener.getsockname())
        sock, _ = listener.accept()
        with sock:
            peer.sendall(b"x" * 10_000)
            assert not left(sock)
            if linger:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            peer.close()
            arrival = select.poll()
            arrival.register(sock, select.POLLRDHUP)
            assert arrival.poll(5000), "what the system does beside may delay even what stays on this machine"
            assert left(sock)


def test_other_kinds_of_connection_do_not_tell() -> None:
    one, other = socket.socketpair()
    with one:
        other.close()
        assert not left(one)
    assert not left(None)
