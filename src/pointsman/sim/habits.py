"""What simulated clients do besides asking."""

import msgspec


class Habits(msgspec.Struct, frozen=True):
    """What clients do besides asking. `plain`: share of requests that ask for no stream. `leaving`: share of those
    whose client leaves, unless it is answered before, after a time drawn around `leaving_after_s` (exponentially).
    """

    plain: float = 0.0
    leaving: float = 0.0
    leaving_after_s: float = 10.0
