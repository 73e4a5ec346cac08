import select
import socket

import pytest

from pointsman.workers.sockets import another, listeners


def port_of(one: socket.socket) -> int:
    port: int = one.getsockname()[1]
    return port


def accepted(*sockets: socket.socket, count: int = 16) -> list[int]:
    """How many of so many connections each of the sockets gets."""
    clients = [socket.create_connection(("127.0.0.1", port_of(sockets[0]))) for _ in range(count)]
    counts = [0] * len(sockets)
    listening = [one for one in sockets if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)]
    while sum(counts) < count:
        ready, _, _ = select.select(listening, [], [], 5.0)
        assert ready, f"of {count} connections {counts} came"
        for one in ready:
            counts[sockets.index(one)] += accept_all(one)
    for each in clients:
        each.close()
    return counts


def accept_all(one: socket.socket) -> int:
    """The connections that wait."""
    found = 0
    while True:
        try:
            one.accept()[0].close()
        except OSError:
            return found
        found += 1


def test_all_listen_on_one_port_and_each_gets_connections() -> None:
    sockets = listeners("127.0.0.1", 0, 2)
    counts = accepted(*sockets, count=64)
    assert sum(counts) == 64
    assert min(counts) > 0
    for each in sockets:
        each.close()


def test_a_port_that_another_gateway_shares_is_taken() -> None:
    sockets = listeners("127.0.0.1", 0, 2)
    with pytest.raises(OSError, match="in use"):
        listeners("127.0.0.1", port_of(sockets[0]), 2)
    for each in sockets:
        each.close()


def test_a_slot_that_gets_a_socket_again_gets_connections_once_it_listens() -> None:
    first, second = listeners("127.0.0.1", 0, 2)
    second.close()
    third = another(first)
    assert port_of(third) == port_of(first)
    assert accepted(first, third) == [16, 0]
    third.listen()
    assert min(accepted(first, third, count=64)) > 0
    first.close()
    third.close()


def test_a_host_of_the_other_kind() -> None:
    (one,) = listeners("::1", 0, 1)
    assert one.family == socket.AF_INET6
    one.close()
