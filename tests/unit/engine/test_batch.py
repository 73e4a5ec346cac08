"""Sums over decoding sequences, against the sequences themselves."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.batch import Batch, Seat
from pointsman.engine.sequence import Sequence


def seat(number: int, prompt: int, output: int) -> Seat:
    return Seat(Sequence(str(number), prompt, output), number)


def test_a_seat_is_through_when_it_has_all_its_tokens() -> None:
    batch, one, other = Batch(4), seat(1, 10, 3), seat(2, 7, 1)
    batch.join(one, 5)
    batch.join(other, 7)
    assert batch.first_end() == 7, "the first one's third token, and the second one's only one"
    assert batch.through(6) == []
    assert batch.through(7) == [one, other]
    assert (batch.count, batch.context(8), batch.first_end()) == (0, 0, None)


def test_who_left_is_not_waited_for() -> None:
    batch, one, other = Batch(4), seat(1, 10, 3), seat(2, 7, 9)
    batch.join(one, 5)
    batch.join(other, 5)
    batch.leave(one)
    assert batch.first_end() == 13


@given(
    prompts=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    first=st.integers(20, 60),
    steps=st.integers(1, 40),
    free=st.integers(0, 100),
)
def test_context_and_blocks_are_those_of_all_seats(prompts: list[int], first: int, steps: int, free: int) -> None:
    batch = Batch(4)
    for number, prompt in enumerate(prompts):
        batch.join(seat(number, prompt, 1000), number)
    held = [prompt + first - 1 - number for number, prompt in enumerate(prompts)]  # before the first step
    assert batch.context(first) == sum(held) + len(held)
    taken = [sum((tokens + step) % 4 == 0 for tokens in held) for step in range(steps)]
    assert batch.takes(first, steps) == sum(taken)
    lasts = batch.lasts(first, steps, free)
    assert sum(taken[:lasts]) <= free
    assert lasts == steps or sum(taken[: lasts + 1]) > free
