from msgspec.structs import replace

from pointsman.workload.dialogues import turns_of
from pointsman.workload.recording_line import Recorded


def ask(second: float, *links: int, tokens: int = 0, answer: int = 16, took_s: float = 1.0) -> Recorded:
    """A prompt of 16 tokens a link and a few more."""
    return Recorded(
        timestamp=1000 * second,
        input_length=tokens or 16 * len(links) + 5,
        output_length=answer,
        hash_ids=links,
        tokens_per_hash=16.0,
        outcome="ok",
        total_ms=1000 * took_s,
    )


def turns(*lines: Recorded) -> list[tuple[int, int]]:
    """Dialogue and turn of each."""
    return [(turn.dialogue, turn.turn) for turn in turns_of(lines)]


def test_a_prompt_that_holds_another_and_its_answer_follows_it() -> None:
    assert turns(ask(0, 1, 2), ask(5, 1, 2, 3, 4), ask(9, 1, 2, 3, 4, 5, 6)) == [(0, 0), (0, 1), (0, 2)]


def test_both_know_each_other() -> None:
    first, second = turns_of([ask(0, 1, 2), ask(5, 1, 2, 3, 4)])
    assert (first.before, first.after, second.before, second.after) == (None, 1, 0, None)


def test_nothing_follows_an_answer_that_was_not_there_yet() -> None:
    assert turns(ask(0, 1, 2, took_s=6.0), ask(5, 1, 2, 3, 4)) == [(0, 0), (1, 0)]


def test_a_prompt_without_room_for_the_answer_is_another_question() -> None:
    assert turns(ask(0, 1, 2, answer=100), ask(5, 1, 2, 3, 4)) == [(0, 0), (1, 0)]


def test_a_shared_system_prompt_makes_no_dialogue() -> None:
    """All chains of the first four end in it; only the very first could be mistaken for a beginning."""
    asks = [ask(2 * number, 1, 2) for number in range(4)]
    assert turns(*asks, ask(20, 1, 2, 3, 4), ask(22, 1, 2, 5, 6))[4:] == [(0, 1), (4, 0)]


def test_the_longest_is_followed() -> None:
    assert turns(ask(0, 1), ask(2, 1, 2, 3), ask(9, 1, 2, 3, 4, 5))[2] == (0, 2)
    assert turns(ask(0, 1), ask(2, 1, 7, 8), ask(9, 1, 7, 8, 4, 5))[2] == (0, 2)


def test_tenants_and_sessions_and_models_are_kept_apart() -> None:
    second = ask(5, 1, 2, 3, 4)
    for other in (replace(second, tenant="t"), replace(second, session_id=1), replace(second, model="m")):
        assert turns(ask(0, 1, 2), other) == [(0, 0), (1, 0)]


def test_without_a_chain_nothing_is_known() -> None:
    assert turns(ask(0, tokens=10), ask(5, tokens=90)) == [(0, 0), (1, 0)]
