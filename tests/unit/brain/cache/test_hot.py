"""Prefixes that many prompts share."""

import pytest

from pointsman.brain.cache.hot import MOST_PREFIXES, HotPrefixes


def test_hits_add_up_by_where_prompts_part_and_fade() -> None:
    hot = HotPrefixes(memory_s=60.0)
    for ticket in range(5):
        hot.hit("m", [1, 2, 3], 64.0, ticket, now=10.0)
    hot.hit("m", [1, 2, 3, 4 + 5], 64.0, 9, now=10.0)
    (prefix,) = hot.by_value(least_hits=3.0, least_tokens=1, now=10.0)
    assert (prefix.links, prefix.tokens, prefix.ticket) == ([1, 2, 3], 192, 4)
    assert prefix.faded(60.0, now=70.0) == pytest.approx(5 / 2.718, rel=1e-3)
    assert not hot.by_value(least_hits=3.0, least_tokens=1, now=70.0)


def test_the_value_of_a_prefix_is_its_hits_times_its_length() -> None:
    hot = HotPrefixes(memory_s=60.0)
    for hits, links in ((6, [1]), (3, [2, 3]), (3, [4, 5, 6, 7])):
        for ticket in range(hits):
            hot.hit("m", links, 64.0, ticket, now=0.0)
    assert next(prefix.links for prefix in hot.by_value(1.0, 1, 0.0)) == [4, 5, 6, 7]
    assert [prefix.links for prefix in hot.by_value(1.0, 129, 0.0)] == [[4, 5, 6, 7]]


def test_what_is_counted_is_bounded_and_the_hottest_stay() -> None:
    hot = HotPrefixes(memory_s=60.0)
    for _ in range(2):
        hot.hit("m", [0], 64.0, 1, now=0.0)
    for link in range(1, 3 * MOST_PREFIXES):
        hot.hit("m", [link], 64.0, 1, now=0.0)
        assert len(hot) <= MOST_PREFIXES
    assert [prefix.links for prefix in hot.by_value(2.0, 1, 0.0)] == [[0]]
