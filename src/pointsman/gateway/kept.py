"""A node's answer that another node may spare the client."""

import msgspec


class Kept(msgspec.Struct, frozen=True):
    """A node's own error answer, ready to be sent."""

    lines: bytes
    body: bytes
