"""The address of a node, taken apart once."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import msgspec

_ADDRESS = re.compile(r"[^\x00-\x20\x7f-\U0010ffff?#]+")
"""Neither spaces, control nor non-ASCII characters, nor a query or fragment, which would be dropped in silence."""
_LONGEST_LABEL = 63


class Origin(msgspec.Struct, frozen=True):
    """Where a base URL points; `prefix` is its path without a final slash."""

    host: str
    port: int
    tls: bool
    prefix: bytes
    host_header: bytes

    @classmethod
    def parse(cls, url: str) -> Origin:
        """Raises ValueError for anything but an http or https URL of host, port and path, and for a path of `/v1`."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _ADDRESS.fullmatch(url):
            raise ValueError(f"{url!r} is not an http:// or https:// address")
        if parts.port == 0 or not all(0 < len(label) <= _LONGEST_LABEL for label in parts.hostname.split(".")):
            raise ValueError(f"{url!r} is not an http:// or https:// address: its port or host name cannot be")
        prefix = parts.path.rstrip("/")
        if prefix.endswith("/v1"):
            raise ValueError(f"{url!r} ends in /v1: give the address without it, requests bring it along")
        tls = parts.scheme == "https"
        host_header = parts.netloc.rpartition("@")[2].encode()
        port = parts.port or (443 if tls else 80)
        return cls(parts.hostname, port, tls, prefix.encode(), host_header)
