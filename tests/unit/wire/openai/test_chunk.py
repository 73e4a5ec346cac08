"""What one event or a whole answer says."""

import pytest

from pointsman.wire.openai.chunk import read_chunk, says, tells_error, usage_of
from pointsman.wire.openai.shapes import Usage


def test_usage_of_whole_answers() -> None:
    full = b'{"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}'
    assert usage_of(full) == Usage(3, 4, 2)
    assert usage_of(b'{"usage":{"input_tokens":3,"output_tokens":4}}') == Usage(3, 4, None)
    assert usage_of(b'{"usage":null}') == usage_of(b"{}") == usage_of(b'"usage"') == Usage()


def test_a_count_that_cannot_be_hides_no_other() -> None:
    assert usage_of(b'{"usage":{"prompt_tokens":3,"completion_tokens":-4}}') == Usage(3, 0, None)


@pytest.mark.parametrize("tokens", ["-1", "1000000001", "1000000000000000000", "99999999999999999999999"])
def test_counts_that_cannot_be_are_not_told(tokens: str) -> None:
    wrong = f'"prompt_tokens":{tokens},"prompt_tokens_details":{{"cached_tokens":{tokens}}}'
    assert usage_of(f'{{"usage":{{{wrong},"completion_tokens":{tokens}}}}}'.encode()) == Usage()


def test_what_is_no_event_of_the_api_says_nothing() -> None:
    for data in (b"", b"[]", b"{", b'{"choices":1}'):
        chunk = read_chunk(data)
        assert chunk.choices is None
        assert not tells_error(chunk)
        assert not says(chunk.error)
