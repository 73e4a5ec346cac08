"""Prefixes that many prompts of late have in common.

Strategy: a prompt shares with others what some node is believed to hold of it when it comes. Where that ends is where
prompts part: behind a system prompt, or behind a dialogue's last turn, which only that dialogue comes back to. So hits
are counted by the last link of what was shared, fading exponentially, and those of one dialogue never add up.
"""

from collections.abc import Sequence
from math import exp

MOST_PREFIXES = 1024
"""Prefixes that hits are counted of: beyond it, the half of least value is forgotten."""


class HotPrefix:
    """One prefix: its chain, its size in tokens, its faded `hits` at `hit_at`, and the ticket that hit it last."""

    __slots__ = ("hit_at", "hits", "links", "model", "ticket", "tokens", "tokens_per_link")

    def __init__(self, model: str, links: Sequence[int], tokens_per_link: float, now: float) -> None:
        self.model = model
        self.links = links
        self.tokens_per_link = tokens_per_link
        self.tokens = max(1, int(len(links) * tokens_per_link))
        self.hits = 0.0
        self.hit_at = now
        self.ticket = 0

    def faded(self, memory_s: float, now: float) -> float:
        """Its hits as they count now."""
        return self.hits * exp(-(now - self.hit_at) / memory_s)


class HotPrefixes:
    """Mutated by `hit`. Hits fade over `memory_s` seconds."""

    def __init__(self, memory_s: float) -> None:
        self.memory_s = memory_s
        self._prefixes: dict[int, HotPrefix] = {}

    def __len__(self) -> int:
        return len(self._prefixes)

    def __bool__(self) -> bool:
        return bool(self._prefixes)

    def hit(self, model: str, shared: Sequence[int], tokens_per_link: float, ticket: int, now: float) -> None:
        """A prompt of `ticket` came whose leading links `shared` (one at least) others had before it."""
        key = shared[-1]
        prefix = self._prefixes.get(key)
        if prefix is None:
            self._make_room(now)
            prefix = self._prefixes[key] = HotPrefix(model, shared, tokens_per_link, now)
        prefix.hits = prefix.faded(self.memory_s, now) + 1.0
        prefix.hit_at = now
        prefix.ticket = ticket

    def by_value(self, least_hits: float, least_tokens: float, now: float) -> list[HotPrefix]:
        """Those with so many hits and tokens at least, of greatest hits × tokens first."""
        hot = [
            prefix
            for prefix in self._prefixes.values()
            if prefix.tokens >= least_tokens and prefix.faded(self.memory_s, now) >= least_hits
        ]
        return sorted(hot, key=lambda prefix: -prefix.tokens * prefix.faded(self.memory_s, now))

    def _make_room(self, now: float) -> None:
        if len(self._prefixes) >= MOST_PREFIXES:
            value = {key: one.tokens * one.faded(self.memory_s, now) for key, one in self._prefixes.items()}
            for key in sorted(value, key=lambda key: value[key])[: MOST_PREFIXES // 2]:
                del self._prefixes[key]
