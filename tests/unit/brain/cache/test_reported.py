"""What one node holds by its own events: against counts of copies, and as public faults would have it wrong."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.cache import reported
from pointsman.brain.cache.reported import Naming, ReportedCache
from pointsman.brain.model.kv_events import CacheChange, Cleared, Removed, Stored

NAMING = Naming(seed=7, chunk_tokens=4)
PROMPT = list(range(100, 116))


def cache() -> ReportedCache:
    return ReportedCache("n", NAMING)


def held(change: CacheChange, before: Counter[int] | None = None) -> Counter[int]:
    counts = Counter() if before is None or change.cleared else Counter(before)
    counts.update(change.came)
    counts.subtract(change.went)
    assert all(count >= 0 for count in counts.values())
    return +counts


def stored(names: list[Any], ids: list[int], block: int = 4, **more: Any) -> Stored:
    return Stored(names=names, token_ids=ids, block_tokens=block, **more)


def test_links_follow_from_tokens_and_not_from_the_engines_names() -> None:
    one, other = cache(), cache()
    one.take(stored([1, 2, 3, 4], PROMPT))
    other.take(stored([b"a", b"b"], PROMPT[:8]))
    other.take(stored([b"c", b"d"], PROMPT[8:], parent=b"b"))
    assert list(one.change().came) == list(other.change().came) == NAMING.chain(PROMPT)


def test_who_never_tells_what_goes_is_begun_anew_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reported, "MOST_BLOCKS", 10)
    one = cache()
    one.forget(whole=True)
    for name in range(10):
        one.take(stored([name], [name] * 4))
    assert (len(one), one.whole) == (10, True)
    one.take(stored([10, 11], [10] * 8))
    change = one.change()
    assert (len(one), change.cleared, change.whole) == (2, True, False)
    assert list(change.came) == NAMING.chain([10] * 8)
    one.take(stored(list(range(20, 31)), [20] * 44))
    one.take(stored([40], [40] * 4, parent=30))
    assert len(one) <= 12


def test_engines_with_larger_and_smaller_blocks_have_the_same_links() -> None:
    for block in (1, 2, 3, 5, 8, 16):
        one = cache()
        full = len(PROMPT) // block
        one.take(stored(list(range(full)), PROMPT[: full * block], block))
        assert list(one.change().came) == NAMING.chain(PROMPT[: full * block])


def test_a_block_is_there_until_its_last_copy_is_gone() -> None:
    one = cache()
    one.take(stored([1], PROMPT[:4], medium="GPU"))
    one.take(stored([1], PROMPT[:4], medium="GPU"))
    one.take(stored([1], PROMPT[:4], medium="CPU"))
    counts = held(one.change())
    for medium, left in (("GPU", 1), ("DISK", 1), ("GPU", 1), ("GPU", 1), ("CPU", 0), ("CPU", 0)):
        one.take(Removed(names=[1], medium=medium))
        counts = held(one.change(), counts)
        assert len(counts) == left
    assert len(one) == 0


def test_all_is_forgotten_when_the_cache_is_cleared() -> None:
    """Others only logged it, and went on sending prompts there."""
    one = cache()
    one.take(stored([1, 2], PROMPT[:8]))
    one.take(Cleared())
    one.take(stored([3], PROMPT[:4]))
    change = one.change()
    assert change.cleared
    assert change.whole
    assert held(change, Counter({5: 1})) == Counter(NAMING.chain(PROMPT[:4]))
    assert len(one) == 1


def test_base_adapter_salt_and_image_have_nothing_in_common() -> None:
    """In one untagged key they were taken for each other."""
    extra = {"salt": b"\x91\xa1s", "image": b"\x91\x92\xa1i\x00"}
    chains = [
        {"adapter": ""},
        {"adapter": "x"},
        {"extra": [extra["salt"], b""]},
        {"extra": [extra["image"], b""]},
        {"adapter": "x", "extra": [extra["salt"], b""]},
    ]
    seen: list[set[int]] = []
    for number, kind in enumerate(chains):
        one = cache()
        one.take(stored([number, number + 100], PROMPT[:8], **kind))
        seen.append(set(one.change().came))
    assert all(len(links) == 2 for links in seen)
    assert len(set.union(*seen)) == 10


def test_an_adapters_prompt_is_found_again() -> None:
    one = cache()
    one.take(stored([1, 2], PROMPT[:8], adapter="x", extra=[b"salt", b""]))
    assert list(one.change().came) == NAMING.chain(PROMPT[:8], "x", b"salt")
    assert NAMING.chain(PROMPT[:8], "x") != NAMING.chain(PROMPT[:8])


def test_what_is_behind_a_block_that_is_gone_counts_again_when_that_is_back() -> None:
    one = cache()
    one.take(stored([1, 2, 3], PROMPT[:12]))
    counts = held(one.change())
    one.take(Removed(names=[2]))
    counts = held(one.change(), counts)
    assert list(counts) == NAMING.chain(PROMPT[:4])
    one.take(stored([2], PROMPT[4:8], parent=1))
    assert set(held(one.change(), counts)) == set(NAMING.chain(PROMPT[:12]))


def test_a_chain_whose_beginning_was_never_told_is_passed_over() -> None:
    one = cache()
    one.whole = True
    one.take(stored([9], PROMPT[:4], parent=8))
    one.take(Removed(names=[9, 8]))
    change = one.change()
    assert (change.came, change.went, change.whole) == ([], [], False)


def test_names_may_be_links_already() -> None:
    one = ReportedCache("n", None)
    one.take(Stored(names=[5, 6]))
    one.take(Removed(names=[6]))
    assert held(one.change()) == Counter([5])


STEPS = st.tuples(
    st.sampled_from(["store", "store", "remove", "clear"]),
    st.integers(0, 6),
    st.integers(1, 3),
    st.sampled_from(["GPU", "CPU"]),
    st.integers(0, 1),
)


@given(st.lists(STEPS, max_size=60))
@settings(max_examples=200, deadline=None)
def test_a_link_is_told_while_some_copy_of_it_and_of_all_before_it_is_there(steps: list[tuple[Any, ...]]) -> None:
    """The model: counts of (block, group, medium), in a tree in which block n is behind block (n - 1) // 2."""
    one, copies, counts = cache(), Counter[tuple[int, int, str]](), Counter[int]()
    chains = {n: _tokens_to(n) for n in range(10)}
    for kind, name, length, medium, group in steps:
        if kind == "store":
            names = _line(name, length)
            parent = (names[0] - 1) // 2 if names[0] else None
            if parent is not None and parent not in one._blocks:
                continue
            ids = [token for each in names for token in chains[each][-4:]]
            one.take(stored(names, ids, parent=parent, medium=medium, group=group))
            copies.update((each, group, medium) for each in names)
        elif kind == "remove":
            one.take(Removed(names=[name], medium=medium, group=group))
            copies[name, group, medium] = max(0, copies[name, group, medium] - 1)
        elif length == 1:
            one.take(Cleared())
            copies.clear()
        counts = held(one.change(), counts)
        there = {each for (each, _, _), count in copies.items() if count}
        expected = {NAMING.chain(chains[each])[-1] for each in there if _ancestors(each) <= there}
        assert set(counts) == expected
        assert all(name in there or block.children for name, block in one._blocks.items())


def _line(name: int, length: int) -> list[int]:
    """Blocks from `name` on, each the first child of the one before."""
    line = [name]
    while len(line) < length and 2 * line[-1] + 1 < 10:
        line.append(2 * line[-1] + 1)
    return line


def _ancestors(name: int) -> set[int]:
    return {name} | (_ancestors((name - 1) // 2) if name else set())


def _tokens_to(name: int) -> list[int]:
    before = _tokens_to((name - 1) // 2) if name else []
    return [*before, *[1000 + name] * 4]
