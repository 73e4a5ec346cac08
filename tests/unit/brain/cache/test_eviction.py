"""Rules of eviction on blocks made by hand."""

import pytest

from pointsman.brain.cache.eviction import EVICTION_RULES, CachedBlock, Standing
from pointsman.brain.cache.reuse_times import ReuseTimes


def block(**told: object) -> CachedBlock:
    return CachedBlock(**{"key": 1, "parent": -1, "depth": 0, "seconds": 0.5, "used": 10.0} | told)  # type: ignore[arg-type]


def value(rule: str, one: CachedBlock, standing: Standing) -> float:
    return EVICTION_RULES[rule].value(one, standing)


def test_lru_goes_by_last_use() -> None:
    assert value("lru", block(used=3.0, uses=9), Standing()) < value("lru", block(used=4.0, uses=1), Standing())


def test_lfu_goes_by_uses() -> None:
    assert value("lfu", block(used=9.0, uses=1), Standing()) < value("lfu", block(used=4.0, uses=2), Standing())


def test_gdsf_weighs_uses_by_the_seconds_they_save_over_what_went_before() -> None:
    assert value("gdsf", block(uses=3, seconds=0.5), Standing(inflation=2.0)) == pytest.approx(3.5)


def test_reuse_goes_by_what_is_known_of_the_kind() -> None:
    times = ReuseTimes()
    for _ in range(20):
        times.used_again(("chat", 2), 10.0)
        times.never_again(("batch", 1))
    standing = Standing(now=20.0, reuse_times=times)
    assert value("reuse", block(kind=("batch", 1), used=19.0), standing) < value(
        "reuse", block(kind=("chat", 2), used=10.0), standing
    )


def test_among_blocks_of_a_kind_the_longest_unused_is_worth_least() -> None:
    standing = Standing(now=100.0)
    values = [value("reuse", block(used=used), standing) for used in (0.0, 50.0, 99.0)]
    assert values == sorted(values)
    assert len(set(values)) == 3
