import socket

import pytest

from pointsman.workers.sockets import another, listeners


def port_of(one: socket.socket) -> int:
    port: int = one.getsockname()[1]
    return port


def test_all_listen_on_one_port_and_each_gets_connections() -> None:
    sockets = listeners("127.0.0.1", 0, 2)
    clients = [socket.create_connection(("127.0.0.1", port_of(sockets[0]))) for _ in range(64)]
    counts = []
    for one in sockets:
        counts.append(0)
        while True:
            try:
                one.accept()[0].close()
            except BlockingIOError:
                break
            counts[-1] += 1
    assert sum(counts) == 64
    assert min(counts) > 0
    for each in (*clients, *sockets):
        each.close()


def test_a_port_that_another_gateway_shares_is_taken() -> None:
    sockets = listeners("127.0.0.1", 0, 2)
    with pytest.raises(OSError, match="in use"):
        listeners("127.0.0.1", port_of(sockets[0]), 2)
    for each in sockets:
        each.close()


def test_a_slot_can_listen_again() -> None:
    first, second = listeners("127.0.0.1", 0, 2)
    second.close()
    third = another(first)
    assert port_of(third) == port_of(first)
    first.close()
    third.close()


def test_a_host_of_the_other_kind() -> None:
    (one,) = listeners("::1", 0, 1)
    assert one.family == socket.AF_INET6
    one.close()
