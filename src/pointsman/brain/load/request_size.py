"""Mean tokens a request holds in KV memory at its end: how many requests fit a node whose slots nobody states."""

from typing import Final

WEIGHT: Final = 0.02
"""Memory of some 50 requests."""
FEWEST: Final = 16
"""Requests seen before the mean is believed."""


class RequestSize:
    """Mean of prompt and answer tokens over all requests that ended well."""

    def __init__(self) -> None:
        self._mean = 0.0
        self._seen = 0

    def observe(self, tokens: float) -> None:
        """One request held `tokens` at its end."""
        self._seen += 1
        self._mean += (tokens - self._mean) * max(WEIGHT, 1.0 / self._seen)

    def mean(self) -> float | None:
        """Tokens per request, or None until enough were seen."""
        return self._mean if self._seen >= FEWEST and self._mean > 0.0 else None
