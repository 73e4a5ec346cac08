"""What a chain looks like to a policy."""

import pytest

from pointsman.chains.model import Chain
from pointsman.chains.sights import SIGHTS, Sight, Sightings

CHAINS = [Chain((), (), 4, 2.0), Chain((), (), 1, 1.0)]


def test_jobs_slots_and_speed_of_one_job() -> None:
    seen = Sightings(CHAINS, Sight())
    seen.show(0, 5)
    columns = seen.cells.columns()
    assert columns.outstanding.tolist() == [5.0, 0.0]
    assert columns.slots.tolist() == [4.0, 1.0]
    assert columns.service_seconds.tolist() == [2.0, 1.0]
    assert columns.speed.tolist() == [0.5, 1.0]
    assert columns.identity.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("policy", ["least_requests", "jiq"])
def test_a_free_slot_is_an_empty_queue_and_what_waits_counts_per_slot(policy: str) -> None:
    seen = Sightings(CHAINS, SIGHTS[policy])
    shown = []
    for present in (0, 3, 4, 7):
        seen.show(0, present)
        shown.append(seen.cells.outstanding[0])
    assert shown == [0.0, 0.0, 0.25, 1.0]


def test_a_weighted_draw_goes_by_all_slots() -> None:
    assert list(Sightings(CHAINS, SIGHTS["weighted_random"]).cells.speed) == [2.0, 1.0]
