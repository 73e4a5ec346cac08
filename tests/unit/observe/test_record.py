import ast
import errno
from importlib.resources import files
from typing import Any, get_args

import msgspec
import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Start
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe import calls
from pointsman.observe.calls import Begin, Entry, PolicySpec, Started
from pointsman.observe.record import Journaled, begin


@pytest.fixture
def journal() -> tuple[Any, list[bytes]]:
    settings, table = BrainSettings(seed=3), PolicyTable(build("round_robin"))
    lines: list[bytes] = []
    return Journaled(Dispatcher(settings, table), begin(settings, table, 0.0), lines.append), lines


def test_the_first_line_tells_settings_and_policies(journal: tuple[Any, list[bytes]]) -> None:
    how = msgspec.json.decode(journal[1][0], type=Entry).call
    assert isinstance(how, Begin)
    assert how.settings == BrainSettings(seed=3)
    assert how.policies == {"default": PolicySpec("round_robin")}


def test_a_call_is_written_with_what_it_started(journal: tuple[Any, list[bytes]]) -> None:
    dispatcher, lines = journal
    dispatcher.add_node(NodeSpec(url="http://a", models=("m",)), 1.0)
    dispatcher.report(NodeReport(node="http://a", ok=True), 1.0)
    dispatcher.submit(Request(id="r", model="m"), 2.0)
    entry = msgspec.json.decode(lines[-1], type=Entry)
    assert entry.call == calls.Submit(Request(id="r", model="m"), 2.0)
    assert entry.started == [Started(1, 1, "http://a")]


def test_a_call_that_raised_is_not_written(journal: tuple[Any, list[bytes]]) -> None:
    dispatcher, lines = journal
    with pytest.raises(LookupError):
        dispatcher.drain("nobody", 1.0)
    assert len(lines) == 1


def test_a_full_disk_ends_the_journal_and_not_the_service(caplog: pytest.LogCaptureFixture) -> None:
    lines: list[bytes] = []

    def sink(line: bytes) -> None:
        if len(lines) == 2:
            lines.append(b"")
            raise OSError(errno.ENOSPC, "no space left on device")
        lines.append(line)

    settings, table = BrainSettings(), PolicyTable(build("round_robin"))
    dispatcher = Journaled(Dispatcher(settings, table), begin(settings, table, 0.0), sink)
    dispatcher.add_node(NodeSpec(url="http://a", id="a", models=("m",)), 1.0)
    dispatcher.report(NodeReport(node="a", ok=True), 1.0)
    for number in range(3):
        (start,) = dispatcher.submit(Request(id=str(number), model="m"), 2.0)
        assert isinstance(start, Start)
    assert len(lines) == 3
    assert [record.getMessage() for record in caplog.records] == [
        "the journal ends here: [Errno 28] no space left on device"
    ]


def test_questions_pass_through_unwritten(journal: tuple[Any, list[bytes]]) -> None:
    dispatcher, lines = journal
    assert dispatcher.models() == []
    assert len(lines) == 1


def test_a_share_is_written_when_there_was_something_to_tell(journal: tuple[Any, list[bytes]]) -> None:
    dispatcher, lines = journal
    dispatcher.add_node(NodeSpec(url="http://a", models=("m",)), 1.0)
    dispatcher.report(NodeReport(node="http://a", ok=True), 1.0)
    before = len(lines)
    assert dispatcher.share(1.5) == []
    assert len(lines) == before
    dispatcher.submit(Request(id="r", model="m"), 2.0)
    assert dispatcher.share(2.5)
    assert msgspec.json.decode(lines[-1], type=Entry).call == calls.Share(2.5)


def test_every_method_that_takes_the_time_is_journaled() -> None:
    source = files("pointsman.brain").joinpath("dispatcher.py").read_text(encoding="utf-8")
    methods = {
        method.name
        for method in ast.walk(ast.parse(source))
        if isinstance(method, ast.FunctionDef)
        and not method.name.startswith("_")
        and "now" in (argument.arg for argument in method.args.args)
    }
    assert methods == {call.__struct_config__.tag for call in get_args(calls.Call)} - {"begin"}
    assert methods <= set(vars(Journaled))
