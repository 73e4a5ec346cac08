"""The decoding sequences of an engine, which all advance by one token a step, as sums over them.

Steps are numbered. A seat that joins has `base` and `gain`: when step s is over, its sequence has base + s tokens in
the cache and gain + s generated ones. So a step touches none of them.
"""

from heapq import heappop, heappush

from pointsman.engine.runs import Holding
from pointsman.engine.sequence import Sequence


class Seat(Holding):
    """A running sequence's place: `number` counts admissions.

    Until its prompt (`known` tokens, and those it had generated before a preemption) is computed, `computed` and
    `blocks` are kept, after that `base`, `gain` and the step in which it was through with its prompt (`joined`).
    """

    __slots__ = ("base", "blocks", "computed", "decoding", "gain", "joined", "known", "number", "sequence")

    def __init__(self, sequence: Sequence, number: int) -> None:
        super().__init__(sequence.runs)
        self.sequence = sequence
        self.number = number
        self.known = sequence.prompt_tokens + sequence.generated
        self.computed = 0
        self.blocks = 0
        self.decoding = False
        self.base = 0
        self.gain = 0
        self.joined = 0


class Batch:
    """Counts its seats, their context, the blocks they take and the steps at whose end they are through."""

    def __init__(self, block_size: int) -> None:
        self.count = 0
        self.block_size = block_size
        self._bases = 0
        self._takers = [0] * block_size  # how many take a block in steps of this remainder
        self._ends: list[tuple[int, int, Seat]] = []

    def join(self, seat: Seat, step: int) -> None:
        """Its last prompt tokens are computed in `step`, at whose end it gets a token, as in each step after it."""
        seat.decoding = True
        seat.joined = step
        seat.base = seat.known - step
        sequence = seat.sequence
        seat.gain = sequence.generated + 1 - step
        self.count += 1
        self._bases += seat.base
        self._takers[(1 - seat.base) % self.block_size] += 1
        heappush(self._ends, (sequence.max_tokens - seat.gain, seat.number, seat))

    def leave(self, seat: Seat) -> None:
        """It decodes no more."""
        seat.decoding = False
        self.count -= 1
        self._bases -= seat.base
        self._takers[(1 - seat.base) % self.block_size] -= 1

    def context(self, step: int) -> int:
        """Tokens that the seats attend to in `step`."""
        return self._bases + self.count * step

    def first_end(self) -> int | None:
        """The step at whose end the first of them is through; None if there is none."""
        ends = self._ends
        while ends and not ends[0][2].decoding:
            heappop(ends)
        return ends[0][0] if ends else None

    def through(self, step: int) -> list[Seat]:
        """Take those out who are through when `step` is over, in order of admission."""
        seats = []
        while self.first_end() == step:
            seat = heappop(self._ends)[2]
            self.leave(seat)
            seats.append(seat)
        return seats

    def takes(self, first: int, steps: int) -> int:
        """Blocks taken in `steps` steps, `first` being the first."""
        size = self.block_size
        if steps == 1:
            return self._takers[first % size]
        begin, takers, taken = first % size, self._takers, steps // size * self.count
        for place in range(begin, begin + steps % size):
            taken += takers[place if place < size else place - size]
        return taken

    def lasts(self, first: int, steps: int, free: int) -> int:
        """For how many of `steps` steps, from `first` on, `free` blocks suffice."""
        size = self.block_size
        if self.count * (steps // size + 1) <= free:
            return steps
        rounds = min(free // self.count, steps // size)
        done, left = rounds * size, free - rounds * self.count
        while done < steps and self._takers[(first + done) % size] <= left:
            left -= self._takers[(first + done) % size]
            done += 1
        return done
