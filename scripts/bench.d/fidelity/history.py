"""What happened in one run: when each request was sent and had its answer, and which engine it was given to."""

from collections.abc import Iterator
from dataclasses import dataclass

from .workload import Ask

SETTLED_S = 0.01
"""An answer that ends this close to a decision may or may not have been counted by the router when it chose."""


@dataclass(frozen=True, slots=True)
class History:
    """One entry a request, in the order they were sent. Seconds on the client's clock; nodes are counted from 0."""

    asks: list[Ask]
    sent: list[float]
    ended: list[float]
    node: list[int]

    def settled(self, number: int) -> bool:
        """Whether what was running when request `number` was placed is beyond doubt."""
        return all(abs(end - self.sent[number]) > SETTLED_S for end in self.ended)

    def moments(self) -> Iterator[tuple[int, bool]]:
        """(request, whether it is sent or ends), in the order of time."""
        begins = [(at, True, number) for number, at in enumerate(self.sent)]
        ends = [(at, False, number) for number, at in enumerate(self.ended)]
        for _, begin, number in sorted(begins + ends):
            yield number, begin
