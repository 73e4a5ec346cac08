"""The order of events on a virtual clock."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.sim.loop import STRIDE_S, Loop, Rank


def test_events_come_by_time_then_rank_then_order_of_entry() -> None:
    loop, seen = Loop(0.0), []
    for moment, rank, name in (
        (2.0, Rank.ENGINE, "late"),
        (1.0, Rank.CLIENT, "client"),
        (1.0, Rank.HEARD, "heard"),
        (1.0, Rank.ENGINE, "engine"),
        (1.0, Rank.HEARD, "heard again"),
    ):
        loop.at(moment, rank, seen.append, name)
    loop.run()
    assert seen == ["engine", "heard", "heard again", "client", "late"]
    assert loop.now == 2.0


def test_an_event_may_enter_others_also_for_its_own_moment() -> None:
    loop, seen = Loop(-1.0), []
    loop.at(0.0, Rank.CLIENT, lambda _: loop.at(0.0, Rank.ENGINE, seen.append, loop.now))
    loop.run()
    assert seen == [0.0]


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, STRIDE_S, 6.0, 40.0, inf]), st.sampled_from(Rank)), min_size=1))
def test_what_is_far_ahead_keeps_its_place(entered: list[tuple[float, Rank]]) -> None:
    loop, seen = Loop(0.0), []

    def enter_again(event: tuple[float, Rank, int]) -> None:
        seen.append(event)
        ahead, rank, number = event
        if number < len(entered):
            loop.at(loop.now + ahead, rank, seen.append, (loop.now + ahead, rank, number + len(entered)))

    for number, (moment, rank) in enumerate(entered):
        loop.at(moment, rank, enter_again, (moment, rank, number))
    loop.run()
    assert [moment for moment, _, _ in seen] == sorted(moment for moment, _, _ in seen)
    first = [event for event in seen if event[2] < len(entered)]
    assert first == sorted(first)
    assert len(seen) == 2 * len(entered)


def test_the_past_cannot_be_changed() -> None:
    loop = Loop(5.0)
    with pytest.raises(ValueError, match=r"nothing can be done at 4\.0 s any more"):
        loop.at(4.0, Rank.CLIENT, print)


def test_a_stopped_loop_leaves_the_rest_and_can_go_on() -> None:
    loop, seen = Loop(0.0), []
    loop.at(1.0, Rank.CLIENT, lambda _: loop.stop())
    loop.at(2.0, Rank.CLIENT, seen.append, "rest")
    loop.run()
    assert seen == []
    loop.run()
    assert seen == ["rest"]
