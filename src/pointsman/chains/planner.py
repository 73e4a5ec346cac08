"""From servers to chains: place the blocks for every number of jobs to keep cache for, and take the best.

Much cache beside each block means many jobs a chain, but few blocks a server and thus long, slow chains; little cache
the reverse. Which is better depends on the rate. Every c is tried, and the one with the least lower bound on response
is taken: of the criteria published, the surrogate reserves too little and the upper bound too much.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from pointsman.chains.allocation import allocate
from pointsman.chains.bounds import Bounds, bounds, capacity_rate
from pointsman.chains.model import Chain, Infeasible, Server, Service, Stage, number_of_jobs, whole
from pointsman.chains.placement import place


class Layout(msgspec.Struct, frozen=True):
    """Stages and chains with cache for `reserved` jobs beside every block. `rate`: jobs per second at most.

    `response` is None where the chains cannot serve the rate asked for.
    """

    reserved: int
    stages: tuple[Stage, ...]
    chains: tuple[Chain, ...]
    rate: float
    response: Bounds | None

    @property
    def whole_models(self) -> bool:
        """Whether every chain is one server that holds all blocks."""
        return all(len(chain.stages) == 1 for chain in self.chains)


class Plan(msgspec.Struct, frozen=True):
    """The layout to use, and all that were tried, by `reserved`."""

    best: Layout
    tried: tuple[Layout, ...]


def most_reserved(servers: Sequence[Server], service: Service) -> int:
    """The most jobs any server can keep cache for beside a single block."""
    most = max((server.memory_gb for server in servers), default=0.0)
    return max(0, whole((most - service.block_gb) / service.job_gb))


def plan(
    servers: Sequence[Server],
    service: Service,
    *,
    rate: float,
    target_load: float,
    reserved: int | None = None,
    tick: Callable[[int], None] = lambda _tried: None,
) -> Plan:
    """The layout of least lower bound at `rate` jobs per second; with `reserved`, the one for that many jobs.

    `tick` is told how many have been tried. Raises Infeasible.
    """
    choices = [reserved] if reserved else range(1, max(1, most_reserved(servers, service)) + 1)
    chains_of = lru_cache(maxsize=None)(lambda stages: allocate(stages, service))  # many c, few placements
    tried: list[Layout] = []
    failures: list[Infeasible] = []
    for number, each in enumerate(choices, start=1):
        try:
            stages = place(servers, service, reserved=each, rate=rate, target_load=target_load)
        except Infeasible as error:
            failures.append(error)
            break  # with more cache beside each block the servers hold fewer still
        tried.append(_layout(each, stages, chains_of(stages), rate))
        tick(number)
    return Plan(_best(tried, rate, failures), tuple(tried))


def _layout(reserved: int, stages: tuple[Stage, ...], chains: tuple[Chain, ...], rate: float) -> Layout:
    served = capacity_rate(chains)
    return Layout(reserved, stages, chains, served, bounds(chains, rate) if served > rate else None)


def _best(tried: Sequence[Layout], rate: float, failures: Sequence[Infeasible]) -> Layout:
    if not tried:
        raise failures[0]
    stable = [(layout.response.lower_s, layout.reserved, layout) for layout in tried if layout.response]
    if not stable:
        most = max(tried, key=lambda layout: layout.rate)
        raise Infeasible(
            f"{rate:.4g} jobs per second are too many: the most these servers serve is {most.rate:.4g}, with cache "
            f"for {number_of_jobs(most.reserved)} beside each block; add servers or send less"
        )
    return min(stable)[-1]
