"""What msgspec says of a line, as people would say it."""

import msgspec
import pytest

from pointsman.workload.mooncake import MooncakeFormat
from pointsman.workload.wording import in_words


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"input_length": "x", "output_length": 1}', "input_length must be a whole number, not text"),
        ('{"input_length": 0, "output_length": 1}', "input_length must be a whole number of at least 1"),
        ('{"timestamp": -1, "input_length": 1, "output_length": 1}', "timestamp must be a number of at least 0"),
        ('{"timestamp": [], "input_length": 1, "output_length": 1}', "timestamp must be a number, not a list"),
        (
            '{"hash_ids": [1, "a"], "input_length": 1, "output_length": 1}',
            "hash_ids[1] must be a whole number, not text",
        ),
        ('{"input_length": 1}', "output_length is missing"),
        ('{"timestamp": 1e400}', "timestamp cannot be read: number out of range"),
        ("{", "Input data was truncated"),
    ],
)
def test_a_field_that_cannot_be_is_named_with_what_it_must_be(line: str, said: str) -> None:
    with pytest.raises(msgspec.DecodeError) as caught:
        MooncakeFormat().parse(line)
    assert in_words(caught.value).startswith(said)


def test_other_errors_keep_their_words() -> None:
    assert in_words(ValueError("ContextTokens is 'x'")) == "ContextTokens is 'x'"
