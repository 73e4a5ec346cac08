"""Keys open the port, and are never shown."""

import pytest

from pointsman.brain.model.errors import Unauthorized
from pointsman.gateway.access import Access


def test_without_keys_everyone_may() -> None:
    assert Access(()).tenant({}) == ""


def test_tenants_tell_nothing_of_the_key() -> None:
    access = Access(("secret-1", "secret-2"))
    one = access.tenant({b"authorization": b"Bearer secret-1"})
    assert one == access.tenant({b"x-api-key": b"secret-1"})
    assert one != access.tenant({b"authorization": b"bearer  secret-2"})
    assert "secret" not in one


@pytest.mark.parametrize("presented", [b"", b"secret", b"Basic secret-1", b"Bearer", b"Bearer secret-1 x", b"secret-1"])
def test_strangers(presented: bytes) -> None:
    with pytest.raises(Unauthorized):
        Access(("secret-1",)).tenant({b"authorization": presented})


def test_an_empty_key_opens_nothing() -> None:
    for fields in ({}, {b"x-api-key": b""}, {b"authorization": b"Bearer "}):
        with pytest.raises(Unauthorized):
            Access(("",)).tenant(fields)
