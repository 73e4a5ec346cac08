"""What chains look like to a policy: the columns of the view, one row a chain.

The rules for parallel chains are the rules for nodes. Where a rule was published for servers of one slot each, its
extension to chains of several (T. Sun, T. He, I.-H. Hou 2026) lies in what it is shown, not in another rule: join the
shortest queue and join the idle queue count what waits per slot, and a weighted draw goes by what a chain serves with
all its slots. All others see jobs, slots and the speed of one job.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pointsman.brain.model.view import Cells
from pointsman.chains.model import Chain


def jobs(present: int, _capacity: int) -> float:
    """All jobs on the chain, q."""
    return float(present)


def queue(present: int, capacity: int) -> float:
    """What one more job would find waiting per slot, itself included: (q − c + 1)₊/c."""
    return max(0, present - capacity + 1) / capacity


def job_speed(chain: Chain) -> float:
    """Speed of one job."""
    return 1.0 / chain.seconds


def chain_speed(chain: Chain) -> float:
    """Speed of all slots together."""
    return chain.rate


@dataclass(frozen=True, slots=True)
class Sight:
    """`outstanding` gives that column from a chain's jobs and capacity, `speed` that one from the chain."""

    outstanding: Callable[[int, int], float] = jobs
    speed: Callable[[Chain], float] = job_speed


SIGHTS = {
    "jiq": Sight(outstanding=queue),
    "least_requests": Sight(outstanding=queue),
    "weighted_random": Sight(speed=chain_speed),
}
"""By name of policy, where it differs from `Sight()`."""


class Sightings:
    """The columns as one policy sees them; `cells` is the storage the view's columns alias."""

    def __init__(self, chains: Sequence[Chain], sight: Sight) -> None:
        self.cells = Cells(len(chains))
        self._outstanding = sight.outstanding
        self._capacity = [chain.capacity for chain in chains]
        for row, chain in enumerate(chains):
            self.cells.identity[row] = float(row)
            self.cells.slots[row] = float(chain.capacity)
            self.cells.service_seconds[row] = chain.seconds
            self.cells.speed[row] = sight.speed(chain)
            self.show(row, 0)

    def show(self, row: int, present: int) -> None:
        """The chain has so many jobs now, running and waiting for it."""
        self.cells.outstanding[row] = self._outstanding(present, self._capacity[row])
