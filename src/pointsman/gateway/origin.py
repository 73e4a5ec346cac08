"""The address of a node, taken apart once."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

import msgspec

_ADDRESS = re.compile(r"[^\x00-\x20\x7f-\U0010ffff?#]+")
"""Neither spaces, control nor non-ASCII characters, nor a query or fragment, which would be dropped in silence."""
_SECRET_PART = re.compile("[?#]")
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
        """Raises ValueError for anything but an http or https URL of host, port and path, and for a path of `/v1`.

        Addresses are names of nodes and shown everywhere, so one with a password is refused, and no error repeats what
        may be a secret.
        """
        if "@" in url:
            raise ValueError("the address of a node cannot hold a user or password; its key is `node_key`")
        shown = _SECRET_PART.split(url)[0]
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _ADDRESS.fullmatch(url):
            raise ValueError(f"{shown!r} is not an http:// or https:// address of host, port and path")
        if not _has_port(parts) or not all(0 < len(label) <= _LONGEST_LABEL for label in parts.hostname.split(".")):
            raise ValueError(f"{shown!r} is not an http:// or https:// address: its port or host name cannot be")
        prefix = parts.path.rstrip("/")
        if prefix.endswith("/v1"):
            raise ValueError(f"{url!r} ends in /v1: give the address without it, requests bring it along")
        tls = parts.scheme == "https"
        port = parts.port or (443 if tls else 80)
        return cls(parts.hostname, port, tls, prefix.encode(), parts.netloc.encode())


def _has_port(parts: SplitResult) -> bool:
    """Whether the port, if there is one, is a number that can be."""
    try:
        return parts.port != 0
    except ValueError:
        return False
