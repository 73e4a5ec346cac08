"""Who gives way on a node that obeys leaves a copy of what it has, where that is quicker than to compute it again."""

import pytest
from tests.support.driver import chain
from tests.support.obedient import ObedientDriver

from pointsman.brain.model.commands import Carried, Obeyed, SwapOut
from pointsman.brain.model.facts import Instructed, RoomMade

LONG = tuple(range(60))


def tight(swap_blocks: int = 500, swap_block_s: float = 1e-6) -> tuple[ObedientDriver, int]:
    """A node of 100 blocks, 70 of which a patient stream holds that has begun: the driver and its ticket."""
    driver = ObedientDriver("greedy", preemption="on")
    driver.add_obedient("a", hardware="A100-80G", profile="Llama-3-8B")
    driver.report("a", obeys=True, running=0, swap_blocks=swap_blocks, swap_block_s=swap_block_s)
    patient = driver.submit(tokens=960, chain=chain(*LONG), max_tokens=160, priority=1.0, resumable=True)
    driver.first_token(driver.lease_of(patient))
    driver.tokens(driver.lease_of(patient), 16)
    return driver, patient


def urgent(driver: ObedientDriver) -> int:
    return driver.submit(tokens=800, chain=chain(*range(500, 550)), max_tokens=16, priority=9.0)


def test_the_victim_leaves_when_its_blocks_are_copied_and_counts_them_as_cached() -> None:
    driver, patient = tight()
    facts: list[RoomMade] = []
    driver.dispatcher.subscribe({RoomMade: facts.append})
    driver.mute = True
    ticket = urgent(driver)
    assert driver.swapped == ["r1"]
    assert patient in driver.running.values(), "it leaves when that is confirmed"
    assert facts[0].seconds == pytest.approx(2 * 61 * 1e-6)
    number = driver.dispatcher.placement.commanding._numbers
    driver.mute = False
    driver.obey(driver.dispatcher.obeyed(Obeyed(number=number, ok=True, done=(Carried(blocks=61),)), driver.now))
    assert patient in driver.waiting
    assert driver.node(ticket) == "a"
    driver.finish(driver.lease_of(ticket))
    lease = driver.dispatcher._leases[driver.lease_of(patient)]
    assert lease.overlap_tokens == 976, "prompt and what was delivered, evicted meanwhile or not"
    assert not driver.dispatcher.placement.swapping.swapped
    driver.rest()


@pytest.mark.parametrize(("blocks", "seconds"), [(500, 1.0), (60, 1e-6), (0, 0.0)])
def test_where_copying_is_slower_or_finds_no_room_it_leaves_at_once(blocks: int, seconds: float) -> None:
    driver, patient = tight(blocks, seconds)
    urgent(driver)
    assert driver.swapped == []
    assert patient in driver.waiting
    driver.rest()


def test_a_copy_that_failed_is_computed_again_and_the_node_is_believed() -> None:
    driver, patient = tight()
    driver.mute = True
    facts: list[Instructed] = []
    driver.dispatcher.subscribe({Instructed: facts.append})
    urgent(driver)
    number = driver.dispatcher.placement.commanding._numbers
    driver.mute = False
    driver.obey(driver.dispatcher.obeyed(Obeyed(number=number, ok=False, reason="timeout"), driver.now))
    assert (facts[0].commands, facts[0].ok) == ((SwapOut("r1"),), False)
    assert patient in driver.waiting
    assert not driver.dispatcher.placement.swapping.swapped
    driver.rest()


def test_one_that_ends_while_it_is_copied_leaves_nothing_behind() -> None:
    driver, patient = tight()
    driver.mute = True
    urgent(driver)
    number = driver.dispatcher.placement.commanding._numbers
    driver.finish(driver.lease_of(patient))
    driver.mute = False
    driver.obey(driver.dispatcher.obeyed(Obeyed(number=number, ok=True, done=(Carried(blocks=61),)), driver.now))
    assert not driver.dispatcher.placement.swapping.swapped
    driver.rest()


def test_a_request_whose_client_leaves_meanwhile_leaves_nothing_behind() -> None:
    driver, patient = tight()
    urgent(driver)
    assert patient in driver.dispatcher.placement.swapping.swapped
    driver.cancel(patient)
    assert not driver.dispatcher.placement.swapping.swapped
    driver.rest()
