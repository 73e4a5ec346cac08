"""Simulated tenants of unequal appetite: what each is served, by the order in which their requests wait."""

from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from pointsman.brain.admission.fairness import service
from pointsman.config.flags import load
from pointsman.config.sim import RunConfig, built
from pointsman.sim.experiment import Run, run
from pointsman.simulate.plan import planned

EXAMPLE = Path(__file__).parents[2] / "examples" / "fairness.toml"
SECONDS = 100
MOMENTS = np.linspace(5.0, SECONDS, 700)
IN_FLIGHT = 8000
"""Tokens that fit on the engine."""
BOUND = 2.0 * max(service(400.0, 0.0), service(0.0, IN_FLIGHT))


def simulated(order: Literal["fair", "fcfs"], seed: int) -> Run:
    config = load(RunConfig, str(EXAMPLE), {"seconds": float(SECONDS), "seed": seed})
    config = msgspec.structs.replace(config, brain=msgspec.structs.replace(config.brain, order=order))
    return run(planned(config).experiment(built(config, config.policy, "policy"), 0), lambda _: None)


def served(done: Run, tenant: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The service the tenant has had at each of `MOMENTS`: prompts when they were sent on, answers evenly."""
    total = np.zeros(len(MOMENTS))
    for one in done.records:
        if one.tenant == tenant and one.placed_s is not None and one.first_s is not None:
            total += service(one.prompt_tokens - one.cached_tokens, 0.0) * (one.placed_s <= MOMENTS)
            share = np.clip((MOMENTS - one.first_s) / max(1e-9, one.done_s - one.first_s), 0.0, 1.0)
            total += service(0.0, one.output_tokens) * share
    return total


def test_an_eager_tenant_gets_its_share_where_it_would_take_five_times_the_bound() -> None:
    totals = {"fair": 0.0, "fcfs": 0.0}
    for seed in (1, 2):
        gaps = {}
        for order in ("fair", "fcfs"):
            done = simulated(order, seed)
            eager, meek = served(done, "chat-0"), served(done, "chat-1")
            gaps[order] = np.ptp(eager - meek)
            totals[order] += eager[-1] + meek[-1]
        assert gaps["fair"] <= BOUND
        assert gaps["fcfs"] > 5.0 * BOUND
    assert abs(totals["fair"] / totals["fcfs"] - 1.0) <= 0.02
