import pytest

from pointsman.gateway.peers import Peers


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
    peers = Peers(("10.0.0.0/8", "192.0.2.7", "fd00::/8"))
    assert peers
    assert peers.trust(host) is trusted
    assert not Peers().trust(host)
    assert not Peers()


@pytest.mark.parametrize("network", ["10.0.0.1/8", "proxy", "", "10.0.0.0/33"])
def test_what_is_no_network(network: str) -> None:
    with pytest.raises(ValueError, match=r"network|host bits"):
        Peers((network,))
