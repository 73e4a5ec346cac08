"""Panic is told when it begins and when it ends."""

from pointsman.brain.fleet import Fleet
from pointsman.brain.life.panic import PanicWatch
from pointsman.brain.model.facts import Fact, PanicChanged
from pointsman.brain.model.node import NodeSpec, NodeState


def test_each_change_is_told_once() -> None:
    fleet, facts = Fleet(4), list[Fact]()
    watch = PanicWatch(fleet, facts.append)
    for name in "abc":
        row = fleet.add(NodeSpec(url=f"http://{name}", models=("m", "n") if name == "c" else ("m",)))
        fleet.states[row], fleet.admitted[row] = NodeState.UP, True

    def look(*states: NodeState) -> None:
        fleet.states[:] = states
        fleet.touch()
        watch.look({"m", "n"}, 5.0)

    up, down = NodeState.UP, NodeState.DOWN
    look(up, up, up)
    look(up, up, down)
    look(up, down, down)
    look(up, down, down)
    look(up, up, up)
    assert facts == [
        PanicChanged(5.0, "n", True, 0, 1),
        PanicChanged(5.0, "m", True, 1, 3),
        PanicChanged(5.0, "m", False, 3, 3),
        PanicChanged(5.0, "n", False, 1, 1),
    ]
