"""Tokens of prompts that begin with the same bytes."""

from pointsman.brain.cache.joined import Joined

SIZE = 256


def learned(joined: Joined, links: list[int], token_links: list[int], size: int | None = None) -> None:
    joined.learn(links, size or len(links) * SIZE, token_links, len(token_links) * 16)


def test_the_same_prompt_has_the_same_tokens() -> None:
    joined = Joined()
    learned(joined, [1, 2, 3], [10, 11, 12, 13], 800)
    assert list(joined.known([1, 2, 3], SIZE, 800) or ()) == [10, 11, 12, 13]


def test_one_that_begins_alike_has_its_share_of_them() -> None:
    joined = Joined()
    learned(joined, [1, 2, 3, 4], list(range(16)), 1024)
    assert list(joined.known([1, 2, 9, 8, 7], SIZE, 1300) or ()) == list(range(8))
    assert list(joined.known([1, 2, 3, 4, 5], SIZE, 1300) or ()) == list(range(16))
    assert joined.known([50, 51, 52], SIZE, 800) is None
    assert joined.known([], SIZE, 100) is None


def test_later_prompts_say_what_earlier_ones_began_with() -> None:
    joined = Joined()
    learned(joined, [1, 2], [10, 11], 512)
    learned(joined, [1, 2, 3, 4], [10, 11, 12, 13], 1024)
    assert list(joined.known([1, 2, 3, 4, 5], SIZE, 2000) or ()) == [10, 11, 12, 13]
    assert joined.depth([1, 2, 3, 9]) == 3


def test_memory_is_bounded_and_turns_of_a_dialogue_count_once() -> None:
    joined = Joined(most=100)
    for turn in range(1, 31):
        learned(joined, list(range(turn)), list(range(turn)))
    assert joined.depth(list(range(30))) == 30
    for prompt in range(1000, 9000, 10):
        learned(joined, list(range(prompt, prompt + 10)), [prompt])
        assert len(joined) <= 100
        assert joined._kept <= 100
        assert joined.depth(list(range(prompt, prompt + 10))) == 10
    assert not joined.depth([0])


def test_a_prompt_longer_than_the_memory_is_remembered_by_its_beginning() -> None:
    joined = Joined(most=10)
    learned(joined, list(range(50)), list(range(50)))
    assert joined.depth(list(range(50))) == 10
    joined.learn([], 100, [], 3)
    assert bool(joined)
