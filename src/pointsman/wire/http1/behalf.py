"""On whose behalf a request is made: what a node is told of it in `Forwarded` and `X-Forwarded-*`.

Anyone can write such a header, so only a trusted peer's travel on. Where nodes are to be told of clients at all, a
stranger's address stands in their place, and a trusted peer's is appended to what it says.
"""

import msgspec

from pointsman.wire.http1.lines import OURS_IN_REQUESTS, PRIVATE, Headers, forwarded

_FOR, _PROTO, _FORWARDED = b"x-forwarded-for", b"x-forwarded-proto", b"forwarded"
_OURS_OF_STRANGERS = OURS_IN_REQUESTS | {_FORWARDED, b"x-real-ip"}
_PRIVATE_OF_STRANGERS = (*PRIVATE, b"x-forwarded-")
_OURS_TO_APPEND = OURS_IN_REQUESTS | {_FOR, _FORWARDED}


class Peer(msgspec.Struct, frozen=True):
    """Who is at the other end of a connection. `address` is empty where nodes are not told."""

    trusted: bool = False
    address: bytes = b""
    scheme: bytes = b"http"

    @property
    def lines(self) -> bytes:
        """What nodes are told of it alone."""
        if not self.address:
            return b""
        return b"%b: %b\r\n%b: %b\r\n" % (_FOR, self.address, _PROTO, self.scheme)


NOBODY = Peer()
"""Neither trusted nor told of."""


def onward(headers: Headers, peer: Peer) -> bytes:
    """The lines of `peer`'s request that travel on to a node."""
    if not peer.trusted:
        return forwarded(headers, _OURS_OF_STRANGERS, _PRIVATE_OF_STRANGERS) + peer.lines
    if not peer.address:
        return forwarded(headers, OURS_IN_REQUESTS)
    return forwarded(headers, _OURS_TO_APPEND) + _appended(headers, peer)


def _appended(headers: Headers, peer: Peer) -> bytes:
    lines = b"%b: %b\r\n" % (_FOR, b", ".join((*_said(headers, _FOR), peer.address)))
    if not _said(headers, _PROTO):
        lines += b"%b: %b\r\n" % (_PROTO, peer.scheme)
    said = _said(headers, _FORWARDED)
    if said:
        lines += b"%b: %b\r\n" % (_FORWARDED, b", ".join((*said, _element(peer))))
    return lines


def _said(headers: Headers, name: bytes) -> list[bytes]:
    return [value for each, value in headers if each == name]


def _element(peer: Peer) -> bytes:
    """`peer` as RFC 7239 writes it."""
    address = b'"[%b]"' % peer.address if b":" in peer.address else peer.address
    return b"for=%b;proto=%b" % (address, peer.scheme)
