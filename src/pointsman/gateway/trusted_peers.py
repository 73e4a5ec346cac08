"""Which peers may say on whose behalf they ask, and what nodes are told of them."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from pointsman.wire.http1.behalf import NOBODY, Peer


class TrustedPeers:
    """Addresses and networks that are trusted: proxies of ours. Raises ValueError for what is neither.

    `told` says whether nodes are told the address of whoever asks. False as a whole if there is nothing to know.
    """

    def __init__(self, networks: Iterable[str] = (), *, told: bool = False) -> None:
        self._networks = [ip_network(network) for network in networks]
        self._told = told

    def __bool__(self) -> bool:
        return self._told or bool(self._networks)

    def at(self, host: str, *, tls: bool = False) -> Peer:
        """The peer at the address `host`; nobody for what is no address."""
        try:
            address = _plain(ip_address(host))
        except ValueError:
            return NOBODY
        return Peer(
            trusted=any(address in network for network in self._networks),
            address=str(address).encode() if self._told else b"",
            scheme=b"https" if tls else b"http",
        )


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An IPv4 address as such, also where the socket shows it as one of IPv6."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
