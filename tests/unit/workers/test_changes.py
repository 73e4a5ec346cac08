from typing import Any

import msgspec
import pytest

from pointsman.admin.routes import Call
from pointsman.admin.values import NodeChange, PolicyChange
from pointsman.brain.model.node import NodeSpec
from pointsman.workers.changes import Changes
from pointsman.workers.messages import Question


def note(changes: Changes, *made: tuple[str, str, Any]) -> list[tuple[str, str, Any]]:
    """Note them; what is to be made again, as (method, id, body)."""
    for method, which, body in made:
        encoded = b"" if body is None else msgspec.msgpack.encode(body)
        changes.note(Question(0, method, "/", which, body=encoded), Call(which, None, body))
    kinds = {"POST": NodeSpec, "PATCH": NodeChange, "PUT": PolicyChange}
    return [
        (q.method, q.which, msgspec.msgpack.decode(q.body, type=kinds[q.method]) if q.body else None)
        for q in changes.made()
    ]


DRAIN, UNDRAIN, HALF = NodeChange(drain=True), NodeChange(drain=False), NodeChange(weight=0.5)
ADD = NodeSpec(url="http://a", id="a")


@pytest.mark.parametrize(
    ("made", "left"),
    [
        ([("PATCH", "a", DRAIN), ("PATCH", "b", DRAIN)], [0, 1]),
        ([("PATCH", "a", DRAIN), ("PATCH", "a", UNDRAIN)], [1]),
        ([("PATCH", "a", DRAIN), ("PATCH", "a", HALF)], [0, 1]),
        ([("PATCH", "a", NodeChange(drain=True, weight=0.5)), ("PATCH", "a", HALF)], [0, 1]),
        ([("PATCH", "a", HALF), ("PATCH", "a", NodeChange(drain=True, weight=0.2))], [1]),
        ([("POST", "", ADD), ("PATCH", "a", DRAIN), ("DELETE", "a", None)], []),  # it was never configured
        ([("PATCH", "a", DRAIN), ("DELETE", "a", None)], [1]),
        ([("DELETE", "a", None), ("POST", "", ADD)], [0, 1]),  # configured so, now otherwise
        ([("DELETE", "a", None), ("POST", "", ADD), ("DELETE", "a", None)], [2]),
        ([("PUT", "", PolicyChange("jffc")), ("PUT", "", PolicyChange("session"))], [1]),
        ([("PUT", "", PolicyChange("jffc")), ("PUT", "", PolicyChange("jffc", "model:m"))], [0, 1]),
        ([("PUT", "", PolicyChange("jffc", "a")), ("POST", "", ADD), ("DELETE", "a", None)], [0]),  # a scope, no node
    ],
)
def test_what_a_later_change_undoes_is_forgotten(made: list[Any], left: list[int]) -> None:
    assert note(Changes(), *made) == [made[each] for each in left]


def test_nodes_that_come_and_go_leave_nothing() -> None:
    changes = Changes()
    for number in range(50):
        name = f"pod-{number}"
        spec = NodeSpec(url=f"http://{name}", id=name)
        note(changes, ("POST", "", spec), ("PATCH", name, DRAIN), ("DELETE", name, None))
    assert changes.made() == []


def test_what_the_configuration_says_anew_is_no_change_any_more() -> None:
    changes = Changes()
    made: list[Any] = [
        ("DELETE", "a", None),
        ("PATCH", "b", DRAIN),
        ("PATCH", "b", HALF),
        ("PATCH", "c", HALF),
        ("PUT", "", PolicyChange("jffc")),
        ("PUT", "", PolicyChange("jffc", "model:m")),
    ]
    note(changes, *made)
    changes.overrule(["a", "b"], ["default"])
    assert note(changes) == [made[1], made[3], made[5]]
