"""Who is heard on whose behalf a request is made, and what a node is told."""

from pointsman.wire.http1.behalf import NOBODY, Peer, onward
from pointsman.wire.http1.lines import Headers

BEHALF = [b"forwarded", b"x-real-ip", b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-user"]


def said(*names: bytes) -> Headers:
    return [(name, b"1") for name in (*names, b"x-pointsman-node", b"authorization", b"x-other")]


def lines(*names: bytes) -> bytes:
    return b"".join(b"%b: 1\r\n" % name for name in names)


def test_only_a_trusted_peer_is_heard() -> None:
    assert onward(said(*BEHALF), NOBODY) == lines(b"x-other")
    assert onward(said(*BEHALF), Peer(trusted=True)) == lines(*BEHALF, b"x-other")


def test_a_strangers_word_is_replaced_by_its_address() -> None:
    told = b"x-forwarded-for: 10.0.0.9\r\nx-forwarded-proto: https\r\n"
    assert onward(said(*BEHALF), Peer(address=b"10.0.0.9", scheme=b"https")) == lines(b"x-other") + told


def test_a_trusted_peers_address_is_appended_to_its_word() -> None:
    headers = [
        (b"x-forwarded-for", b"203.0.113.7"),
        (b"x-forwarded-for", b"10.0.0.1"),
        (b"x-forwarded-proto", b"https"),
        (b"forwarded", b"for=203.0.113.7"),
    ]
    assert onward(headers, Peer(trusted=True, address=b"2001:db8::1")) == (
        b"x-forwarded-proto: https\r\n"
        b"x-forwarded-for: 203.0.113.7, 10.0.0.1, 2001:db8::1\r\n"
        b'forwarded: for=203.0.113.7, for="[2001:db8::1]";proto=http\r\n'
    )


def test_a_trusted_peer_without_a_word_is_told_of_as_a_stranger_is() -> None:
    told = b"x-forwarded-for: 10.0.0.9\r\nx-forwarded-proto: http\r\n"
    assert onward([], Peer(trusted=True, address=b"10.0.0.9")) == told


def test_a_client_cannot_have_the_address_dropped_by_naming_it_hop_by_hop() -> None:
    headers = [(b"connection", b"x-forwarded-for"), (b"x-forwarded-for", b"203.0.113.7")]
    peer = Peer(trusted=True, address=b"10.0.0.9")
    assert b"x-forwarded-for: 203.0.113.7, 10.0.0.9\r\n" in onward(headers, peer)
