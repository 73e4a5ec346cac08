"""Theorem 4."""

import math

import pytest

from pointsman.chains.bounds import bounds, capacity_rate
from pointsman.chains.model import Chain


def chain(capacity: int, seconds: float) -> Chain:
    return Chain((), (), capacity, seconds)


def test_one_slot_is_a_queue_of_one_server() -> None:
    found = bounds([chain(1, 2.0)], 0.25)
    assert found.lower_s == found.upper_s == pytest.approx(2.0 / (1.0 - 0.5))


def test_equal_slots_are_erlangs_queue_however_they_are_grouped() -> None:
    offered, servers = 3.0, 4
    tail = offered**servers / math.factorial(servers) / (1.0 - offered / servers)
    waits = tail / (sum(offered**n / math.factorial(n) for n in range(servers)) + tail)
    expected = 1.0 + waits / (servers - offered)
    for grouped in ([chain(4, 1.0)], [chain(1, 1.0), chain(3, 1.0)]):
        found = bounds(grouped, offered)
        assert found.lower_s == found.upper_s == pytest.approx(expected)


def test_few_jobs_are_all_on_the_fastest_or_all_on_the_slowest() -> None:
    found = bounds([chain(3, 5.0), chain(3, 1.0)], 1e-4)
    assert (found.lower_s, found.upper_s) == (pytest.approx(1.0, rel=1e-3), pytest.approx(5.0, rel=1e-3))


def test_thousands_of_slots_do_not_overflow() -> None:
    found = bounds([chain(5000, 1.0), chain(5000, 2.0)], 7400.0)
    assert 1.0 < found.lower_s <= found.upper_s < 2.0


def test_jobs_that_slow_each_other_lower_the_capacity() -> None:
    chains = [chain(4, 2.0), chain(1, 1.0)]
    assert capacity_rate(chains) == 3.0
    assert capacity_rate(chains, slowdown=1.0) == 0.5 + 1.0
