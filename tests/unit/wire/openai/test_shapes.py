"""Shapes say by their defaults what is absent."""

from msgspec.structs import astuple

from pointsman.wire.openai.shapes import ABSENT, Body, Chunk, Delta


def test_what_is_not_said_is_absent() -> None:
    assert all(part is None or part == ABSENT for part in astuple(Body()))
    assert all(part == ABSENT for part in astuple(Delta()))
    assert not Chunk().error


def test_bodies_alike_are_equal() -> None:
    assert Body(model="m", stream=True) == Body(model="m", stream=True) != Body(model="m")
