"""Which tokens a prompt begins with, known by the bytes it begins with: learned from prompts whose tokens were told.

A prompt is known by the links of its bytes before anything answers, and by the links of its tokens once an engine has
told these. Both are remembered together; a later prompt that shares the first bytes shares about as many tokens. How
many, the prompt whose tokens are known says by its own mean: where in it a byte lies among the tokens, nobody tells.

Memory is bounded by links of bytes. When it is full, what has been grown over by later prompts goes, as each turn of a
dialogue is by the next, and then what was learned longest ago.
"""

from array import array
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

MOST_LINKS: Final = 200_000
"""Of bytes: 50 MB of prompts, remembered in some 35 MB."""


class Lesson:
    """A prompt of `size` bytes and `tokens`, by links of both. `left`: links of bytes that no later prompt has."""

    __slots__ = ("left", "links", "size", "token_links", "tokens")

    def __init__(self, links: Sequence[Any], size: int, token_links: Sequence[int], tokens: int) -> None:
        self.links = links
        self.left = len(links)
        self.size = size
        self.token_links = array("Q", token_links)
        self.tokens = tokens


class Joined:
    """`most`: links of bytes remembered. Mutated by `learn`."""

    def __init__(self, most: int = MOST_LINKS) -> None:
        self._most = most
        self._of: dict[Any, Lesson] = {}
        self._lessons: deque[Lesson] = deque()
        self._kept = 0

    def __len__(self) -> int:
        return len(self._of)

    def __bool__(self) -> bool:
        return bool(self._of)

    def depth(self, links: Sequence[Any]) -> int:
        """How many leading links are remembered: a binary search, since they are closed under prefixes."""
        low, high = 0, len(links)
        while low < high:
            middle = (low + high) >> 1
            if links[middle] in self._of:
                low = middle + 1
            else:
                high = middle
        return low

    def known(self, links: Sequence[Any], link_bytes: int, size: int) -> Sequence[int] | None:
        """The token links of a prompt of `size` bytes, as far as it shares its first bytes with one that is known.

        None where it shares nothing.
        """
        depth = self.depth(links)
        if not depth:
            return None
        lesson = self._of[links[depth - 1]]
        if depth == len(links) == len(lesson.links) and size == lesson.size:
            return lesson.token_links
        shared = depth * link_bytes / lesson.size
        return lesson.token_links[: int(len(lesson.token_links) * shared)]

    def learn(self, links: Sequence[Any], size: int, token_links: Sequence[int], tokens: int) -> None:
        """A prompt of `size` bytes with these links has so many tokens, with those links."""
        links = links[: self._most]
        if not links:
            return
        lesson = Lesson(links, size, token_links, tokens)
        of = self._of
        for link in links:
            before = of.get(link)
            if before is not None:
                before.left -= 1
            of[link] = lesson
        self._lessons.append(lesson)
        self._kept += len(links)
        if self._kept > self._most:
            self._sweep()

    def _sweep(self) -> None:
        """Drop what has been grown over, then what was learned longest ago, to three quarters of what may be kept."""
        self._lessons = deque(each for each in self._lessons if each.left)
        self._kept = sum(len(each.links) for each in self._lessons)
        while 4 * self._kept > 3 * self._most and len(self._lessons) > 1:
            self._drop(self._lessons.popleft())

    def _drop(self, lesson: Lesson) -> None:
        self._kept -= len(lesson.links)
        for link in lesson.links:
            if self._of.get(link) is lesson:
                del self._of[link]
