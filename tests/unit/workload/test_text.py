"""Prompt text: equal ids, equal text; four bytes a word."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.workload.text import block_text, prompt_text

IDS = st.integers(-(2**63), 2**63 - 1)


@given(IDS, st.integers(1, 64))
def test_a_word_is_a_space_and_three_letters(block, tokens):
    assert re.fullmatch(r"( [a-z]{3})*", block_text(block, tokens))
    assert len(block_text(block, tokens)) == 4 * tokens


@given(IDS, st.integers(1, 64), st.integers(0, 64))
def test_a_longer_text_begins_with_the_shorter(block, tokens, more):
    assert block_text(block, tokens + more).startswith(block_text(block, tokens))


@given(st.lists(IDS, min_size=1, max_size=4), st.lists(IDS, max_size=3), st.lists(IDS, max_size=3))
def test_shared_ids_are_a_shared_prefix(shared, left, right):
    one, other = [prompt_text([*shared, *rest], 16, 16 * len([*shared, *rest])) for rest in (left, right)]
    assert one[: 64 * len(shared)] == other[: 64 * len(shared)]


def test_different_ids_share_next_to_nothing():
    words = [set(block_text(block, 512).split()) for block in (1, 2)]
    assert len(words[0] & words[1]) < 40


def test_the_last_block_is_cut_to_size():
    assert prompt_text([5, 6], 16, 20) == block_text(5, 16) + block_text(6, 4)


def test_too_few_blocks_are_refused():
    with pytest.raises(ValueError, match="do not cover 33 tokens"):
        prompt_text([5, 6], 16, 33)
