"""Who may use the data port."""

import hashlib
from collections.abc import Iterable, Mapping

from pointsman.brain.model.errors import Unauthorized


class Access:
    """Client keys, compared by their digests, so that the time taken tells nothing about a key.

    Without keys everyone may. A key's tenant name is the beginning of its digest: a key is never shown.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._tenants = {digest: "key-" + digest.hex()[:8] for digest in map(_digest, map(str.encode, keys))}

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


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
