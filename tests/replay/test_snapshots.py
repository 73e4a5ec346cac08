"""A recorded decision, made again from its record alone, is the same decision."""

import msgspec
import pytest
from tests.support.driver import TestDriver
from tests.support.random_day import RandomDay

from pointsman.brain.model.facts import Decided, Fact
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.observe.snapshot import Snapshot


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_decision_of_a_day_is_made_again_from_its_record(policy: str) -> None:
    recorded = []

    def record(fact: Fact) -> None:
        if isinstance(fact, Decided):
            recorded.append(msgspec.json.encode(Snapshot.of(fact, build(policy))))

    RandomDay(TestDriver(policy, [record], seed=2), seed=2).run(300)
    assert len(recorded) > 50
    for line in recorded:
        snapshot = msgspec.json.decode(line, type=Snapshot)
        assert snapshot.agrees(snapshot.choose_again())
