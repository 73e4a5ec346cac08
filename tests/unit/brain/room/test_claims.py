"""Room that is kept: taken from all others, given back once, and not for ever."""

from tests.support.tight import BLOCKS, TightDriver

from pointsman.brain.room.claims import CLAIM_SECONDS, Claims


def claimed(blocks: int) -> tuple[TightDriver, Claims, int]:
    """A node that is full, and a claim on it by a ticket that waits."""
    driver = TightDriver("a", preemption="off")
    driver.ask(BLOCKS)
    ticket = driver.ask(blocks)
    claims = driver.dispatcher.maker.claims
    claims.make(driver.dispatcher._tickets[ticket], driver.dispatcher.fleet.row_of["a"], driver.now + CLAIM_SECONDS)
    return driver, claims, ticket


def test_it_counts_as_taken_until_it_is_lifted() -> None:
    driver, claims, ticket = claimed(30)
    assert driver.free("a") == -30
    assert ticket in claims
    assert claims.held(claims.row(ticket)) == 30
    claims.drop(ticket)
    claims.drop(ticket)
    assert driver.free("a") == 0
    assert not claims


def test_it_expires() -> None:
    driver, claims, ticket = claimed(30)
    claims.expire(driver.now + CLAIM_SECONDS - 0.1)
    assert list(claims) == [ticket]
    claims.expire(driver.now + CLAIM_SECONDS)
    assert not claims
    assert driver.free("a") == 0


def test_a_node_that_left_is_owed_nothing() -> None:
    driver, claims, ticket = claimed(30)
    driver.obey(driver.dispatcher.remove_node("a", driver.now))
    driver.finish(next(iter(driver.running)))
    driver.add("b", slots=64, kv_tokens=1600)
    row = driver.dispatcher.fleet.row_of["b"]
    assert row == 0, "the row is used again"
    assert driver.node(ticket) == "b"
    assert not claims
    assert driver.free("b") == BLOCKS - 30


def test_no_room_is_kept_on_the_node_that_comes_after() -> None:
    driver, claims, ticket = claimed(30)
    driver.obey(driver.dispatcher.remove_node("a", driver.now))
    driver.finish(next(iter(driver.running)))
    driver.add("b", up=False, slots=64, kv_tokens=1600)
    driver.tick(0.1)
    assert driver.dispatcher.fleet.row_of["b"] == 0, "the row is used again"
    assert ticket in driver.waiting
    assert not claims
    assert driver.free("b") == BLOCKS
