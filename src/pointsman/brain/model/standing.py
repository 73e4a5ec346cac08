"""Where one who waits stands."""

import msgspec


class Standing(msgspec.Struct, frozen=True, gc=False):
    """`position` (1 = next) in its queue; `expected_s` more to wait by the pace of late, None while that is unknown."""

    position: int
    expected_s: float | None
