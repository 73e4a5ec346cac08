import logging

import pytest

from pointsman.brain.model.facts import (
    Fact,
    FedBack,
    LoadUnknown,
    NodeChanged,
    PanicChanged,
    PolicyChanged,
    PolicyRaised,
    ProbeFailed,
    Queued,
)
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.request import Request
from pointsman.observe.log import AGAIN_SECONDS, Log

REQUEST = Request(id="r1", model="m")


def lines(caplog: pytest.LogCaptureFixture, *facts: Fact) -> list[str]:
    """What is logged of `facts`, each line with its level."""
    caplog.set_level(logging.DEBUG)
    log = Log(logging.getLogger("test"))
    for fact in facts:
        log(fact)
    return [f"{record.levelname} {record.getMessage()}" for record in caplog.records]


def raised(now: float, policy: str = "mine") -> PolicyRaised:
    return PolicyRaised(now, policy, "choose", REQUEST, AttributeError("no such column"))


def test_a_nodes_life_has_a_line_for_each_change(caplog: pytest.LogCaptureFixture) -> None:
    facts = (
        NodeChanged(0.0, "a", "joining", "up", "admitted"),
        NodeChanged(1.0, "a", "up", "down", "tripped", "reset"),
        NodeChanged(2.0, "a", "down", "draining", "drain"),
    )
    assert lines(caplog, *facts) == [
        "INFO node a: joining -> up (admitted)",
        "WARNING node a: up -> down (tripped: reset)",
        "INFO node a: down -> draining (drain)",
    ]


def test_a_node_with_an_id_is_told_with_its_address(caplog: pytest.LogCaptureFixture) -> None:
    url = "http://h:1"
    facts = (
        ProbeFailed(0.0, "big", "joining", "refused", url),
        NodeChanged(1.0, "big", "joining", "up", "admitted", url=url),
        NodeChanged(1.0, url, "joining", "up", "admitted", url=url),
        NodeChanged(1.0, f"{url}#0", "joining", "up", "admitted", url=url),
    )
    assert lines(caplog, *facts) == [
        "WARNING node big at http://h:1 (joining): probe failed: refused",
        "INFO node big at http://h:1: joining -> up (admitted)",
        "INFO node http://h:1: joining -> up (admitted)",
        "INFO node http://h:1#0: joining -> up (admitted)",
    ]


def test_failing_probes_are_told_once_a_reason(caplog: pytest.LogCaptureFixture) -> None:
    facts = (
        *[ProbeFailed(0.0, "a", "up", "refused")] * 3,
        ProbeFailed(1.0, "b", "up", "refused"),
        ProbeFailed(2.0, "a", "up", "timeout"),
    )
    assert lines(caplog, *facts) == [
        "WARNING node a (up): probe failed: refused",
        "WARNING node b (up): probe failed: refused",
        "WARNING node a (up): probe failed: timeout",
    ]


def test_a_node_that_came_back_is_told_of_again(caplog: pytest.LogCaptureFixture) -> None:
    failed = ProbeFailed(0.0, "a", "up", "refused")
    falls, returns = (NodeChanged(0.0, "a", "", after, "") for after in ("suspect", "up"))
    assert len(lines(caplog, failed, falls, failed, returns, failed)) == 4


def test_a_node_that_tells_no_load_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    silent = LoadUnknown(0.0, "a")
    removed = NodeChanged(0.0, "a", NodeState.DRAINING, NodeState.GONE, "removed")
    told = lines(caplog, silent, silent, removed, silent)
    assert [line for line in told if "tells no load" in line] == [
        "WARNING node a tells no load: it is judged by our own account of it alone"
    ] * 2


def test_complaints_that_count_on_one_line_each(caplog: pytest.LogCaptureFixture) -> None:
    bad = ClientReport(request="r", tenant="", good=False, reason="two\nlines")
    assert lines(caplog, FedBack(0.0, "a", bad, True), FedBack(0.0, "a", bad, False)) == [
        "INFO node a: a client says that the answer to request 'r' was bad: 'two\\nlines'"
    ]


def test_panic_and_its_end(caplog: pytest.LogCaptureFixture) -> None:
    assert lines(caplog, PanicChanged(0.0, "m", True, 1, 3), PanicChanged(9.0, "m", False, 2, 3)) == [
        "WARNING model m: 1 of 3 nodes are in use; work goes to all nodes that do not refuse",
        "INFO model m: 2 of 3 nodes are in use; work goes to them alone",
    ]


def test_changes_of_policy(caplog: pytest.LogCaptureFixture) -> None:
    facts = PolicyChanged(0.0, "default", "jffc"), PolicyChanged(0.0, "model:m", "")
    assert lines(caplog, *facts) == [
        "INFO policy of default: jffc",
        "INFO policy of model:m: dropped, the default decides",
    ]


def test_a_policy_that_raises_is_told_with_its_traceback_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    facts = raised(0.0), raised(1.0), raised(1.0, "other"), raised(AGAIN_SECONDS)
    told = lines(caplog, *facts)
    assert [line.split(":")[0] for line in told] == ["ERROR policy mine", "ERROR policy other", "ERROR policy mine"]
    assert "`choose` raised over request r1" in told[0]
    assert "AttributeError: no such column" in caplog.text


def test_requests_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert lines(caplog, Queued(0.0, 1, REQUEST, 1)) == []
