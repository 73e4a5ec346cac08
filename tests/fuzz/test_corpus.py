"""Inputs that fuzzing starts from, and those that it once found, keep every promise."""

from importlib import import_module

import pytest
from tests.fuzz.corpus import FIXTURES, TARGETS, inputs

CASES = list(inputs())


@pytest.mark.parametrize("target", TARGETS)
def test_seeds(target: str) -> None:
    check = import_module(f"tests.fuzz.targets.{target}").check
    for name, _, data in CASES:
        if name == target:
            check(data)


def test_every_input_belongs_to_a_target() -> None:
    assert {path.name for path in FIXTURES.iterdir()} <= set(TARGETS)
