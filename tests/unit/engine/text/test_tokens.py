"""The tokenizer: reversible, stable under concatenation, the same through text and through ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.text.tokens import ASSISTANT, END, USER, chain, from_ids, split, split_blocks, to_ids, to_text

ids = st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 300) | st.integers(2**16, 2**17 - 1), max_size=30)


@given(text=st.text())
def test_tokens_are_the_text(text: str) -> None:
    assert b"".join(split(text.encode())) == text.encode()
    assert to_text(from_ids(to_ids(text.encode()))) == text


@given(text=st.text(), block_size=st.integers(1, 20))
def test_blocks_are_tokens_in_groups(text: str, block_size: int) -> None:
    tokens, blocks = split(text.encode()), split_blocks(text.encode(), block_size)
    assert blocks == [b"".join(tokens[at : at + block_size]) for at in range(0, len(tokens), block_size)]


@given(first=st.text(), second=st.text())
def test_appending_behind_a_space_leaves_the_tokens_before_alone(first: str, second: str) -> None:
    appended = (first + " " + second).encode()
    assert split(appended) == split(first.encode()) + split((" " + second).encode())


@given(tokens=ids)
def test_any_ids_survive(tokens: list[int]) -> None:
    assert to_ids(from_ids(tokens)) == tokens


@given(first=ids, second=ids)
def test_how_ids_are_read_depends_only_on_what_is_before(first: list[int], second: list[int]) -> None:
    assert from_ids(first + second).startswith(from_ids(first))


def test_a_space_and_four_bytes_are_a_token() -> None:
    assert split(b" abc abcd abcde") == [b" abc", b" abcd", b" abcd", b"e"]
    assert split(" 🚂 역".encode()) == [" 🚂".encode(), " 역".encode()]


def test_special_tokens_stand_alone() -> None:
    prompt = bytes((USER,)) + b"hi there" + bytes((END, ASSISTANT))
    assert to_ids(prompt)[0] == USER
    assert to_ids(prompt)[-2:] == [END, ASSISTANT]
    assert to_text(prompt) == "<|user|>hi there<|end|><|assistant|>"


def test_ids_fit_json_numbers() -> None:
    assert max(to_ids(" 🚂 zzzz".encode())) < 2**53


@pytest.mark.parametrize("token", [-1, 2**63])
def test_ids_out_of_range_are_refused(token: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        from_ids([token])


def test_hashes_are_chained() -> None:
    first, second = chain([b"a", b"b"]), chain([b"x", b"b"])
    assert first[1] != second[1]
    assert chain([b"b"], parent=first[0]) == [first[1]]
