"""Generated sessions: reproducible, shared by Zipf's law, parts independent of each other."""

from collections import Counter

import msgspec
import pytest

from pointsman.workload.sessions import Session, SessionMix, Turn, draw_sessions

MIX = SessionMix()


def test_a_prompt_holds_all_that_was_said_before():
    session = Session(0, 0.0, 0, 100, (Turn(10, 5, 0.0), Turn(20, 6, 1.0), Turn(30, 7, 1.0)))
    assert [session.prompt_tokens(turn) for turn in range(3)] == [110, 135, 171]


def test_equal_seeds_equal_sessions():
    one, same, other = (draw_sessions(MIX, seed=seed, rate=2.0, seconds=50.0) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_think_time_does_not_shift_other_draws():
    slow = msgspec.structs.replace(MIX, think_mean_s=50.0)
    one, other = (draw_sessions(mix, seed=1, rate=2.0, seconds=50.0) for mix in (MIX, slow))
    assert [(s.start_s, s.system_prompt, [t.user_tokens for t in s.turns]) for s in one] == [
        (s.start_s, s.system_prompt, [t.user_tokens for t in s.turns]) for s in other
    ]
    assert one != other


def test_a_longer_run_begins_with_the_shorter():
    short, long = (draw_sessions(MIX, seed=1, rate=2.0, seconds=seconds) for seconds in (20.0, 80.0))
    assert long[: len(short)] == short


def test_system_prompts_follow_zipf():
    sessions = draw_sessions(MIX, seed=1, rate=50.0, seconds=100.0)
    used = Counter(session.system_prompt for session in sessions)
    assert used[0] / used[1] == pytest.approx(2, rel=0.2)
    assert len({(s.system_prompt, s.system_tokens) for s in sessions}) == MIX.system_prompts


def test_turns_have_the_expected_mean_and_the_first_needs_no_thought():
    sessions = draw_sessions(MIX, seed=1, rate=50.0, seconds=100.0)
    turns = [len(session.turns) for session in sessions]
    assert sum(turns) / len(turns) == pytest.approx(MIX.turns_expected(), rel=0.05)
    assert max(turns) == MIX.turns_most
    assert all(session.turns[0].think_s == 0 for session in sessions)
    thinks = [turn.think_s for session in sessions for turn in session.turns[1:]]
    assert sum(thinks) / len(thinks) == pytest.approx(MIX.think_mean_s, rel=0.1)
