import pytest

from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.sizes import check_chain, check_request


def test_each_value_is_looked_through_when_it_is_made() -> None:
    assert (Chain.__post_init__, Request.__post_init__) == (check_chain, check_request)


def test_what_can_be_is_let_pass() -> None:
    check_chain(Chain("tokens", [1], 16.0))
    check_request(Request(id="r", model="m", prompt_bytes=1))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Chain("bytes", [1, 2])
    with pytest.raises(ValueError, match="negative"):
        Request(id="r", model="m", prompt_bytes=-1)
