import msgspec
import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.observe import calls
from pointsman.observe.calls import Entry, PolicySpec, Started
from pointsman.observe.replay import JournalError, differences, replay

HEAD = Entry(calls.Begin("1", BrainSettings(), {"default": PolicySpec("round_robin")}, 0.0))
PLACED = Entry(calls.Submit(Request(id="r", model="m"), 2.0), [Started(1, 1, "a")])
MADE = [
    Entry(calls.AddNode(NodeSpec(url="http://a", id="a", models=("m",)), 1.0)),
    Entry(calls.Report(NodeReport(node="a", ok=True), 1.0)),
]


def lines(*values: msgspec.Struct) -> list[bytes]:
    return [msgspec.json.encode(value) for value in values]


def test_the_calls_are_made_again() -> None:
    assert replay(lines(HEAD, *MADE, PLACED)) == [Started(1, 1, "a")]


def test_a_difference_names_its_line() -> None:
    forged = Entry(PLACED.call, [Started(1, 1, "b")])
    (difference,) = differences(lines(HEAD, *MADE, forged))
    assert difference.line == 4
    assert (difference.recorded, difference.replayed) == (forged.started, PLACED.started)


def test_a_policy_is_dropped_by_none() -> None:
    change = Entry(calls.SetPolicy("model:m", PolicySpec("least_requests"), 1.0))
    drop = Entry(calls.SetPolicy("model:m", None, 1.0))
    assert differences(lines(HEAD, *MADE, change, drop, PLACED)) == []


def test_a_journal_may_hold_several_runs() -> None:
    run = (HEAD, *MADE, PLACED)
    assert replay(lines(*run, *run)) == PLACED.started * 2


def test_an_empty_journal_started_nothing() -> None:
    assert replay([]) == []


def test_a_journal_that_does_not_begin_is_refused() -> None:
    with pytest.raises(JournalError, match="line 1: "):
        replay(lines(*MADE))


def test_a_file_of_another_kind_is_doubted() -> None:
    with pytest.raises(JournalError, match=r"line 1: .*; is it what --journal wrote"):
        replay([b'{"timestamp":1,"input_length":40}\n'])


def test_a_broken_line_is_named() -> None:
    with pytest.raises(JournalError, match="line 2: "):
        replay([*lines(HEAD), b'{"call": {"call": "dance"}}'])


@pytest.mark.parametrize("length", [1, 20, -1])
def test_half_a_line_at_the_end_of_a_run_is_passed_over_and_told(length: int) -> None:
    run = lines(HEAD, *MADE, PLACED)
    half = run[-1][:length]
    told: list[int] = []
    assert differences([*run, half, *run, half], cut=told.append) == []
    assert told == [5, 10]
    assert replay([*run, half]) == PLACED.started


def test_half_a_line_within_a_run_is_named() -> None:
    run = lines(HEAD, *MADE, PLACED)
    with pytest.raises(JournalError, match="line 3: "):
        replay([*run[:2], run[2][:30], *run[3:]])
