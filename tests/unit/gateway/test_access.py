"""Keys open the port, and are never shown."""

import hashlib

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


def test_a_tenants_keys_are_known_by_its_name() -> None:
    access = Access(("plain",), {"acme": ("k1", "k2"), "other": ("k3",)})
    for key, tenant in (("k1", "acme"), ("k2", "acme"), ("k3", "other")):
        assert access.tenant({b"authorization": b"Bearer " + key.encode()}) == tenant
    assert access.tenant({b"x-api-key": b"plain"}).startswith("key-")
    with pytest.raises(Unauthorized):
        access.tenant({})


def test_a_key_may_be_given_as_its_digest() -> None:
    digest = hashlib.sha256(b"secret").hexdigest()
    access = Access(("sha256:" + digest,), {"acme": ("sha256:" + hashlib.sha256(b"k1").hexdigest(),)})
    assert access.tenant({b"x-api-key": b"secret"}) == "key-" + digest[:8]
    assert access.tenant({b"x-api-key": b"k1"}) == "acme"
    with pytest.raises(Unauthorized):
        access.tenant({b"x-api-key": b"sha256:" + digest.encode()})
