from math import inf

from pointsman.brain.cache.pools.account import Account


def account(**given: float) -> Account:
    return Account(**({"capacity": 100, "reserved": 20, "cached": 30, "free": 50, "queued": 0, "largest": 80} | given))


def test_what_is_not_in_one_piece_is_fragmented() -> None:
    assert account().external == 0.0
    assert account(largest=20).external == 0.75


def test_where_nothing_is_to_be_had_or_all_unknown_nothing_is_fragmented() -> None:
    assert account(cached=0, free=0, largest=0).external == 0.0
    assert account(capacity=inf, free=inf, largest=inf).external == 0.0
