"""The choice of how many jobs to keep cache for."""

import pytest

from pointsman.chains.model import Infeasible, Server, Service
from pointsman.chains.planner import most_reserved, plan

LLAMA = Service(32, 0.4375, 0.0336)


def slices(large: int = 3, small: int = 6) -> list[Server]:
    """Slices of A100s with a mean job of the Azure code trace."""
    kinds = [("large", 40.0, 0.0196)] * large + [("small", 20.0, 0.0344)] * small
    return [Server(f"{name}-{n}", gb, 0.92, block_s) for n, (name, gb, block_s) in enumerate(kinds)]


def test_the_least_lower_bound_is_taken(bloom_servers: list[Server], bloom_service: Service) -> None:
    found = plan(bloom_servers, bloom_service, rate=0.8, target_load=0.7)
    assert len(found.tried) > 10
    bounds = {layout.reserved: layout.response.lower_s for layout in found.tried if layout.response}
    assert bounds[found.best.reserved] == min(bounds.values())


def test_more_cache_is_kept_for_more_jobs(bloom_servers: list[Server], bloom_service: Service) -> None:
    few, many = (plan(bloom_servers, bloom_service, rate=rate, target_load=0.7).best for rate in (0.1, 0.8))
    assert few.reserved < many.reserved


def test_the_number_of_jobs_can_be_given(bloom_servers: list[Server], bloom_service: Service) -> None:
    told: list[int] = []
    found = plan(bloom_servers, bloom_service, rate=0.8, target_load=0.7, reserved=7, tick=told.append)
    assert (found.best.reserved, len(found.tried), told) == (7, 1, [1])


def test_whole_models_at_low_load_splitting_only_near_their_saturation() -> None:
    at = {rate: plan(slices(), LLAMA, rate=rate, target_load=0.7).best for rate in (2.57, 40.0, 62.0)}
    assert [at[rate].whole_models for rate in (2.57, 40.0, 62.0)] == [True, True, False]
    assert at[2.57].response is not None
    assert sum(chain.capacity for chain in at[40.0].chains) == 102
    assert at[40.0].rate < 62.0 < at[62.0].rate


def test_too_many_jobs_are_refused_with_what_is_possible() -> None:
    with pytest.raises(Infeasible, match=r"500 jobs per second are too many: the most these servers serve is \d+"):
        plan(slices(), LLAMA, rate=500.0, target_load=0.7)


def test_too_little_memory_is_refused_with_what_is_missing() -> None:
    with pytest.raises(Infeasible, match="blocks fit on no server"):
        plan(slices(0, 1), Service(100, 0.4375, 0.0336), rate=1.0, target_load=0.7)
    with pytest.raises(Infeasible, match="100 of 100 blocks fit on no server"):
        plan([], Service(100, 1.0, 0.1), rate=1.0, target_load=0.7)


def test_the_most_that_can_be_reserved() -> None:
    assert most_reserved(slices(), LLAMA) == 1177
    assert most_reserved([], LLAMA) == 0
