"""Which names the admin port goes by.

A page in an operator's browser may have its own name resolve to 127.0.0.1 (DNS rebinding): then the browser takes the
admin port for the page's own site, and lets it read and change everything. But its requests still carry that name in
`Host`. So only names that were meant are answered to. An address cannot be rebound; it is compared all the same where
the port listens on one in particular.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address


class Hosts:
    """Names of this machine's loopback, the address listened on, and further `names` as configured.

    Where the port listens on all addresses, so it goes by all of them.
    """

    def __init__(self, listened_on: str, names: Iterable[str] = ()) -> None:
        self._names = {name.lower().rstrip(".") for name in (*names, listened_on)}
        self._address = _address(listened_on)

    def include(self, host: str) -> bool:
        """Whether `host`, the value of a Host header, is one of them."""
        name = _name(host)
        address = _address(name)
        if address is None:
            return name == "localhost" or name.endswith(".localhost") or name in self._names
        everywhere = self._address is not None and self._address.is_unspecified
        return everywhere or address.is_loopback or address == self._address or name in self._names


def _name(host: str) -> str:
    """Without port, brackets and a final dot; empty for what is no host."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _address(name: str) -> Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None
