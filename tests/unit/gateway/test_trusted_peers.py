import pytest

from pointsman.gateway.trusted_peers import TrustedPeers


@pytest.mark.parametrize(
    ("host", "trusted"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("192.0.2.7", True),
        ("192.0.2.8", False),
        ("fd00::1", True),
        ("fe80::1%eth0", False),
        ("2001:db8::1", False),
        ("", False),
        ("proxy", False),
    ],
)
def test_addresses_and_networks(host: str, trusted: bool) -> None:
    peers = TrustedPeers(("10.0.0.0/8", "192.0.2.7", "fd00::/8"))
    assert peers
    assert peers.at(host).trusted is trusted
    assert not TrustedPeers().at(host).trusted
    assert not TrustedPeers()


@pytest.mark.parametrize("network", ["10.0.0.1/8", "proxy", "", "10.0.0.0/33"])
def test_what_is_no_network(network: str) -> None:
    with pytest.raises(ValueError, match=r"network|host bits"):
        TrustedPeers((network,))


@pytest.mark.parametrize(
    ("host", "address"),
    [("::ffff:10.1.2.3", b"10.1.2.3"), ("2001:DB8:0::1", b"2001:db8::1"), ("10.1.2.3", b"10.1.2.3"), ("unix", b"")],
)
def test_who_is_told_of(host: str, address: bytes) -> None:
    told = TrustedPeers(told=True)
    assert told
    assert told.at(host, tls=True).address == address
    assert TrustedPeers(("10.0.0.0/8",)).at(host).address == b""
