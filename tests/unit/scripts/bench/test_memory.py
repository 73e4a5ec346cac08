import pytest
from memory import KV_TOKENS, LINK_TOKENS, NODES, Reading, flat, readings

from pointsman.brain.cache.index import PrefixIndex

ROOM = NODES * KV_TOKENS // LINK_TOKENS


def test_prompts_that_are_over_leave_only_what_nodes_could_hold() -> None:
    taken = list(readings(15_000, "fastest_completion", silent=True))
    assert [each.prompts for each in taken] == list(range(1_500, 15_001, 1_500))
    assert flat(taken)
    assert all(each.held <= ROOM for each in taken)
    assert max(each.entries for each in taken) <= ROOM


def test_a_table_that_forgets_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrefixIndex, "_drop", lambda *_: None)
    assert not flat(list(readings(6_000, "fastest_completion", silent=True)))


@pytest.mark.parametrize(("mib", "expected"), [(104.0, True), (106.0, False), (94.0, False)])
def test_flat_is_within_a_twentieth(mib: float, expected: bool) -> None:
    assert flat([Reading(1, 100.0, 5, 5), Reading(2, mib, 5, 5)]) == expected
