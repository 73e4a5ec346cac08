"""GCA."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.chains.allocation import allocate
from pointsman.chains.bounds import capacity_rate
from pointsman.chains.model import Server, Service, Stage
from pointsman.chains.placement import place


def test_the_worked_example(example_servers: list[Server], example_service: Service) -> None:
    stages = place(example_servers, example_service, reserved=1, rate=1.0, target_load=0.7)
    chains = allocate(stages, example_service)
    assert ["".join(stage.server.name for stage in chain.stages) for chain in chains] == ["12", "145", "345"]
    assert [chain.capacity for chain in chains] == [5, 5, 5]
    assert [chain.taken for chain in chains] == [(1, 2), (1, 1, 1), (1, 1, 1)]
    assert [chain.seconds for chain in chains] == pytest.approx([3.05, 3.10, 3.12])
    assert capacity_rate(chains) == pytest.approx(5 / 3.05 + 5 / 3.10 + 5 / 3.12)


def test_a_block_held_twice_is_processed_where_the_chain_comes_first() -> None:
    a, b = (Server(name, 10.0, 1.0, 1.0) for name in "ab")
    (chain,) = allocate([Stage(a, 1, 3), Stage(b, 2, 4)], Service(5, 1.0, 1.0))
    assert chain.taken == (3, 2)


def test_whole_models_of_published_size() -> None:
    """A model of 32 blocks on three servers of 40 GB and six of 20."""
    service = Service(32, 0.4375, 0.0336)
    servers = [Server(str(n), 40.0 if n < 3 else 20.0, 1.0, 0.02) for n in range(9)]
    chains = allocate([Stage(server, 1, 32) for server in servers], service)
    assert sorted(chain.capacity for chain in chains) == [5] * 6 + [24] * 3


def test_no_chain_where_a_block_is_missing(example_servers: list[Server], example_service: Service) -> None:
    assert allocate([Stage(example_servers[0], 1, 1), Stage(example_servers[1], 3, 1)], example_service) == ()


STAGES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 9), st.integers(1, 9)), max_size=6)


@given(STAGES)
def test_no_cache_is_given_twice_and_the_first_chain_is_the_fastest(drawn: list[tuple[int, int, int, int]]) -> None:
    service = Service(4, 1.0, 1.0)
    stages = [
        Stage(Server(str(n), float(min(count, 5 - first) + slots), 1.0, float(per)), first, min(count, 5 - first))
        for n, (first, count, slots, per) in enumerate(drawn)
    ]
    chains = allocate(stages, service)
    for stage, (*_, slots, _) in zip(stages, drawn, strict=True):
        used = sum(
            chain.capacity * taken
            for chain in chains
            for through, taken in zip(chain.stages, chain.taken, strict=True)
            if through is stage
        )
        assert used <= slots
    assert [chain.seconds for chain in chains] == sorted(chain.seconds for chain in chains)
    assert all(sum(chain.taken) == service.blocks and chain.capacity > 0 for chain in chains)
    assert (chains[0].seconds if chains else None) == fastest(stages, service)


def fastest(stages: list[Stage], service: Service) -> float | None:
    """The seconds of the fastest chain with cache for a job, found by trying all."""
    found = []
    for length in range(1, len(stages) + 1):
        for path in itertools.permutations(stages, length):
            following, seconds = 1, 0.0
            for stage in path:
                taken = stage.taken(following)
                if not 0 < taken <= service.slots(stage.server, stage.count):
                    break
                following, seconds = stage.end, seconds + stage.server.job_seconds(taken)
            else:
                if following == service.blocks + 1:
                    found.append(seconds)
    return min(found, default=None)
