"""What may be sent of an answer, and where it ends."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.api.choice import Choice, Ending
from pointsman.engine.sequence import Sequence
from pointsman.engine.text.tokens import chain, split, split_blocks, to_ids
from pointsman.engine.text.words import Writer

PROMPT = b"a prompt"


def make_choice(max_tokens: int = 30, tail: tuple[bytes, int] = (b"", 0), **ending: Any) -> Choice:
    options: dict[str, Any] = {
        "stops": [],
        "include_stop": False,
        "min_tokens": 0,
        "ignore_eos": True,
        "forced_tokens": None,
    }
    sequence = Sequence("s", 2, max_tokens)
    return Choice(0, sequence, Writer(PROMPT, 20), Ending(**options | ending), tail, 4)


def finish(choice: Choice, look_every: int = 1) -> list[str]:
    """Write to the end, taking what may be sent every `look_every` tokens."""
    taken = []
    while choice.finish_reason is None:
        choice.sequence.generated += 1
        choice.write()
        if choice.sequence.generated % look_every == 0:
            taken.append(choice.take_text())
    return [*taken, choice.take_text()]


WHOLE = "".join(finish(make_choice()))


def test_the_limit_ends_an_answer() -> None:
    choice = make_choice(max_tokens=5)
    assert len("".join(finish(choice)).split()) == 5
    assert choice.finish_reason == "length"


def test_a_forced_length_is_a_proper_end() -> None:
    choice = make_choice(max_tokens=5, forced_tokens=5, ignore_eos=False)
    finish(choice)
    assert choice.finish_reason == "stop"


@given(start=st.integers(0, 100), length=st.integers(1, 12), look_every=st.integers(1, 5))
def test_nothing_behind_a_stop_string_is_ever_sent(start: int, length: int, look_every: int) -> None:
    stop = WHOLE[start : start + length]
    choice = make_choice(stops=[stop])
    taken = finish(choice, look_every)
    assert "".join(taken) == WHOLE[: WHOLE.index(stop)]
    assert choice.stop_reason == stop
    assert choice.finish_reason == "stop"


@given(look_every=st.integers(1, 7))
def test_what_is_held_back_for_a_stop_string_comes_in_the_end(look_every: int) -> None:
    taken = finish(make_choice(stops=["never written"]), look_every)
    assert "".join(taken) == WHOLE


def test_a_stop_string_before_min_tokens_is_passed_over() -> None:
    first_word = WHOLE.split()[0]
    choice = make_choice(stops=[first_word], min_tokens=3)
    assert len("".join(finish(choice))) > len(first_word)


def test_min_tokens_puts_off_the_end() -> None:
    natural = make_choice(max_tokens=1000, ignore_eos=False)
    finish(natural)
    later = make_choice(max_tokens=1000, ignore_eos=False, min_tokens=natural.sequence.generated)
    finish(later)
    assert later.sequence.generated > natural.sequence.generated


@pytest.mark.parametrize("prompt", [b"one two thr", b"one two thr four", b"one"])
def test_hashes_go_on_as_if_the_answer_had_been_part_of_the_prompt(prompt: bytes) -> None:
    blocks, tail = [], (b"", 0)
    for block in split_blocks(prompt, 4):
        count = len(split(block))
        if count == 4:
            blocks.append(block)
        else:
            tail = (block, count)
    choice = make_choice(tail=tail)
    choice.sequence.hashes.extend(chain(blocks))
    text = "".join(finish(choice)).encode()
    full = [block for block in split_blocks(prompt + text, 4) if len(split(block)) == 4]
    assert choice.sequence.hashes == chain(full)


def test_ids_are_those_of_the_words() -> None:
    choice = make_choice(max_tokens=3)
    text = "".join(finish(choice))
    assert choice.take_ids() == to_ids(text.encode())
    assert choice.take_ids() == []
