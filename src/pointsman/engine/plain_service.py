"""How long a plain inference server takes: a time without load, and more the more it has to do."""

import msgspec


class PlainService(msgspec.Struct, frozen=True, kw_only=True):
    """Response time in seconds, `base_seconds + slope_seconds * load`; `capacity` requests in flight are load 1."""

    base_seconds: float
    slope_seconds: float
    capacity: int

    def load(self, running: int, drift: float = 0.0) -> float:
        """1.0 is full load; more is possible. `drift` is load that does not come from requests."""
        return running / self.capacity + drift

    def seconds(self, load: float) -> float:
        """The time of a request that meets `load` as it arrives."""
        return self.base_seconds + self.slope_seconds * load

    def requests_per_second(self, drift: float = 0.0) -> float:
        """What it answers at full load, `drift` included (Little's law)."""
        return self.capacity * max(0.0, 1.0 - drift) / self.seconds(1.0)
