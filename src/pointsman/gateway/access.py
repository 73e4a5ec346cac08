"""Who may use the data port."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from pointsman.brain.model.errors import Unauthorized

DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
"""A key written as its digest, so that the file of settings holds no secret."""


class Access:
    """Client keys, compared by their digests, so that the time taken tells nothing about a key.

    Without keys everyone may. `tenants` are keys by the name of who has them; that of any other key is the beginning
    of its digest: a key is never shown. A key may be given as its digest (`DIGEST`).
    """

    def __init__(self, keys: Iterable[str], tenants: Mapping[str, Iterable[str]] = {}) -> None:
        self._tenants = {digest: "key-" + digest.hex()[:8] for digest in map(_known, keys)}
        for name, theirs in tenants.items():
            self._tenants.update(dict.fromkeys(map(_known, theirs), name))

    def tenant(self, fields: Mapping[bytes, bytes]) -> str:
        """The tenant a request belongs to. Raises Unauthorized."""
        if not self._tenants:
            return ""
        presented = _presented(fields)
        tenant = self._tenants.get(_digest(presented)) if presented else None
        if tenant is None:
            raise Unauthorized("a valid API key is needed: Authorization: Bearer KEY")
        return tenant


def _presented(fields: Mapping[bytes, bytes]) -> bytes:
    scheme, _, token = fields.get(b"authorization", b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else fields.get(b"x-api-key", b"")


def _known(key: str) -> bytes:
    written = DIGEST.fullmatch(key)
    return bytes.fromhex(written[1]) if written else _digest(key.encode())


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
