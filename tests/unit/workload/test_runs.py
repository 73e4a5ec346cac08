"""Chains of blocks as runs, and back."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.workload.runs import divided, ids_of, runs_of

IDS = st.lists(st.integers(0, 12), max_size=20)


def test_runs_are_as_long_as_ids_are_consecutive() -> None:
    assert runs_of([4, 5, 6, 9, 11, 12]) == ((4, 3), (9, 1), (11, 2))
    assert runs_of([]) == ()
    assert runs_of([0]) == ((0, 1),)


@given(IDS)
def test_runs_written_out_are_the_ids(ids: list[int]) -> None:
    assert ids_of(runs_of(ids)) == ids


@given(IDS, st.integers(1, 5), st.integers(0, 60))
def test_each_block_is_divided_into_as_many(ids: list[int], parts: int, blocks: int) -> None:
    written_out = [block * parts + part for block in ids for part in range(parts)][:blocks]
    assert ids_of(divided(runs_of(ids), parts, blocks)) == written_out
