"""Both kinds of dispatchers take all calls of a simulated gateway."""

import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.record import Journaled, begin
from pointsman.sim.brain import Brain

CALLS = sorted(name for name in vars(Brain) if not name.startswith("_"))


@pytest.mark.parametrize("journaled", [False, True])
def test_it_has_every_call(journaled: bool) -> None:
    policies = PolicyTable(build("round_robin"))
    dispatcher = Dispatcher(BrainSettings(), policies)
    how = begin(BrainSettings(), policies, 0.0)
    brain = Journaled(dispatcher, how, lambda _line: None) if journaled else dispatcher
    assert CALLS
    assert [name for name in CALLS if not callable(getattr(brain, name))] == []
