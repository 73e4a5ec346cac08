"""Which peers may say on whose behalf they ask."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


class Peers:
    """Addresses and networks that are trusted: proxies of ours. Raises ValueError for what is neither."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [ip_network(network) for network in networks]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trust(self, host: str) -> bool:
        """Whether the peer at the address `host` is one of them; never for what is no address."""
        try:
            address = _plain(ip_address(host))
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An IPv4 address as such, also where the socket shows it as one of IPv6."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
