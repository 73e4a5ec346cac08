"""What is written next depends on what is before and on nothing else."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.text.tokens import split
from pointsman.engine.text.words import END_TOKEN, WORDS, Writer


def write(prompt: bytes, count: int, choice: int = 0) -> list[bytes]:
    writer = Writer(prompt, 50, choice)
    return [writer.next(may_end=False) for _ in range(count)]


def test_every_word_is_one_token_behind_a_space() -> None:
    assert len(set(WORDS)) == len(WORDS) > 100
    for word in WORDS:
        assert split(word) == [word]
        assert word.startswith(b" ")
        assert word.decode().isprintable()


@given(prompt=st.binary(max_size=50), cut=st.integers(0, 40))
def test_a_cut_answer_goes_on_as_if_it_had_not_been_cut(prompt: bytes, cut: int) -> None:
    whole = write(prompt, 40)
    assert write(prompt + b"".join(whole[:cut]), 40 - cut) == whole[cut:]


def test_the_end_stays_where_it_is_after_a_cut() -> None:
    writer = Writer(b"prompt", 50)
    answer = list(iter(lambda: writer.next(may_end=True), END_TOKEN))
    half = len(answer) // 2
    again = Writer(b"prompt" + b"".join(answer[:half]), 50)
    assert list(iter(lambda: again.next(may_end=True), END_TOKEN)) == answer[half:]


def test_answers_end_after_their_mean_length() -> None:
    def length(seed: int) -> int:
        writer = Writer(str(seed).encode(), 50)
        return sum(1 for _ in islice(iter(lambda: writer.next(may_end=True), END_TOKEN), 10_000))

    lengths = [length(seed) for seed in range(2000)]
    assert 45 < sum(lengths) / len(lengths) < 55


def test_choices_and_prompts_differ() -> None:
    assert write(b"a", 20) != write(b"b", 20)
    assert write(b"a", 20) != write(b"a", 20, choice=1)
