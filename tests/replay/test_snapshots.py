"""A recorded decision, made again from its record alone, is the same decision."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import Decided, Fact
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.snapshot import Snapshot


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_decision_of_a_day_is_made_again_from_its_record(random_day: Callable[..., Any], policy: str) -> None:
    table, recorded = PolicyTable(build(policy)), []

    def record(fact: Fact) -> None:
        if isinstance(fact, Decided):
            recorded.append(msgspec.json.encode(Snapshot.of(fact, table.of(fact.request))))

    random_day(Dispatcher(BrainSettings(seed=2), table, [record]), 2).run(300)
    assert len(recorded) > 50
    for line in recorded:
        snapshot = msgspec.json.decode(line, type=Snapshot)
        assert snapshot.agrees(snapshot.choose_again())
