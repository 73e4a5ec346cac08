import pytest

from pointsman.brain.model.request import Chain, Request


@pytest.mark.parametrize(
    "wrong", [{"priority": 0.0}, {"priority": -1.0}, {"prompt_tokens": -1.0}, {"prompt_bytes": -1}]
)
def test_impossible_sizes_and_priorities_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"priority|negative"):
        Request(id="r", model="m", **wrong)  # type: ignore[arg-type]


def test_a_link_without_a_size_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Chain("bytes", [1, 2])
