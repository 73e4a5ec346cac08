"""Jobs through chains: small cases by hand, a queue with a formula."""

import numpy as np
import pytest

from pointsman.brain.policies.registry import build
from pointsman.chains.bounds import bounds
from pointsman.chains.model import Chain
from pointsman.chains.simulation import Jobs, poisson_jobs, responses

FAST, SLOW = Chain((), (), 1, 1.0), Chain((), (), 1, 3.0)


def jobs(*arrivals: float) -> Jobs:
    return Jobs(np.array(arrivals), np.ones(len(arrivals)))


def test_the_fastest_free_chain_takes_the_job_and_the_rest_wait_centrally() -> None:
    seconds = responses([SLOW, FAST], build("fastest_free"), jobs(0.0, 0.1, 0.2, 0.3), seed=1)
    assert seconds.tolist() == pytest.approx([1.0, 3.0, 1.8, 2.7])


def test_a_rule_that_places_leaves_jobs_waiting_at_their_chain() -> None:
    seconds = responses([SLOW, FAST], build("sa_jsq"), jobs(0.0, 0.1, 0.2, 0.3), seed=1)
    assert seconds.tolist() == pytest.approx([1.0, 3.0, 1.8, 5.8])


def test_a_queue_of_several_servers_waits_as_long_as_the_formula_says() -> None:
    chains = [Chain((), (), 4, 1.0)]
    demand = poisson_jobs(np.random.default_rng(5), 3.0, 60_000)
    expected = bounds(chains, 3.0).lower_s
    assert responses(chains, build("fastest_free"), demand, seed=1).mean() == pytest.approx(expected, rel=0.05)


def test_round_robin_remembers_its_turn() -> None:
    seconds = responses([FAST, SLOW], build("round_robin"), jobs(0.0, 10.0, 20.0, 30.0), seed=1)
    assert sorted(seconds.tolist()) == pytest.approx([1.0, 1.0, 3.0, 3.0])


def test_where_jobs_slow_each_other_the_batched_rule_spreads_them() -> None:
    chains = [Chain((), (), 2, 1.0), Chain((), (), 2, 1.5)]
    together, apart = (
        responses(chains, build(name), jobs(0.0, 0.0), seed=1, slowdown=1.0).mean()
        for name in ("fastest_free", "fastest_free_batched")
    )
    assert (together, apart) == (pytest.approx(2.0), pytest.approx(1.25))


def test_equal_seeds_give_equal_draws() -> None:
    demand = poisson_jobs(np.random.default_rng(5), 0.5, 500)
    first, again, other = (responses([FAST, SLOW], build("jiq"), demand, seed=seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()


def test_jobs_come_at_the_rate_and_are_of_size_one() -> None:
    demand = poisson_jobs(np.random.default_rng(5), 4.0, 20_000)
    assert demand.arrivals[-1] == pytest.approx(5000.0, rel=0.03)
    assert demand.sizes.mean() == pytest.approx(1.0, rel=0.03)
