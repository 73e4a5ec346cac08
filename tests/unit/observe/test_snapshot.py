from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from pointsman.brain.model.choice import Choice
from pointsman.brain.policies.registry import build
from pointsman.observe.snapshot import Snapshot

POLICY = build("least_requests")


def through_json(snapshot: Snapshot) -> Snapshot:
    return msgspec.json.decode(msgspec.json.encode(snapshot), type=Snapshot)


@pytest.mark.parametrize("rows", [None, [4, 0, 7]])
def test_a_decision_is_made_again_from_its_record(
    decided: Callable[..., Any], make_view: Callable[..., Any], rows: list[int] | None
) -> None:
    fact = decided(view=make_view([2.0, 1.0, 1.0], rows=rows, draw=2**63 + 5, whole=rows is None))
    snapshot = through_json(Snapshot.of(fact, POLICY))
    assert snapshot.agrees(snapshot.choose_again())
    assert snapshot.chosen == fact.chosen


def test_infinite_capacity_survives(decided: Callable[..., Any], make_view: Callable[..., Any]) -> None:
    snapshot = through_json(Snapshot.of(decided(view=make_view([1.0, 2.0])), POLICY))
    assert np.isinf(snapshot.view().kv_capacity).all()


def test_another_choice_does_not_agree(decided: Callable[..., Any]) -> None:
    fact = decided()
    snapshot = Snapshot.of(fact, POLICY)
    assert snapshot.agrees(Choice(fact.chosen, fact.scores, fact.reason))
    assert not snapshot.agrees(Choice(fact.chosen - 1, fact.scores, fact.reason))
    assert not snapshot.agrees(Choice(fact.chosen, fact.scores + 1.0, fact.reason))


def test_places_in_memory_survive(decided: Callable[..., Any], make_view: Callable[..., Any]) -> None:
    view = make_view([1.0, 2.0])
    view.places = np.array([1, 2])
    snapshot = through_json(Snapshot.of(decided(view=view), POLICY))
    assert snapshot.view().fits.tolist() == [False, True]
    assert snapshot.view().snapshot().fits.tolist() == [False, True]
