"""How fast a queue moves, and so how long a place in it is expected to take."""

SHARE = 0.1
"""Weight of the newest interval in the mean: some ten placements are remembered."""


class Pace:
    """Mean seconds between placements while somebody waits; intervals in which nobody did say nothing."""

    def __init__(self) -> None:
        self._interval: float | None = None
        self._since: float | None = None

    def begins(self, now: float) -> None:
        """Somebody waits from now on, after nobody did."""
        self._since = now

    def placed(self, now: float, left: bool) -> None:
        """One who waited was placed; `left` tells whether others still wait."""
        if self._since is not None:
            took = max(0.0, now - self._since)
            before = took if self._interval is None else self._interval
            self._interval = before + SHARE * (took - before)
        self._since = now if left else None

    def expect(self, position: int) -> float | None:
        """Seconds until the one at `position` (1 = next) is placed; None before anything was learned."""
        return None if self._interval is None else position * self._interval
