"""The table by kinds of clients."""

import msgspec
from rich.console import Console
from tests.support.measured import measured

from pointsman.sim.by_clients import ClientFigures
from pointsman.simulate.client_table import client_table
from pointsman.simulate.standing import PolicyRuns

CHAT = ClientFigures("chat", 90, 1.0, 0.953, 0.21, 0.9, 3.0, 9.0)
BATCH = ClientFigures("batch", 10, 1.0, 0.5, None, None, 8.0, 40.0)


def test_one_kind_has_no_table() -> None:
    assert client_table([PolicyRuns("a", (measured("a"),))]) is None


def test_a_row_tells_what_a_kind_got_under_a_policy() -> None:
    def kinds(name: str) -> PolicyRuns:
        return PolicyRuns(name, (msgspec.structs.replace(measured(name), clients=(BATCH, CHAT)),))

    table = client_table([kinds("a"), kinds("b")])
    assert table is not None
    console = Console(width=120)
    with console.capture() as seen:
        console.print(table)
    rows = [line.split() for line in seen.get().splitlines() if line.startswith(("batch", "chat"))]
    assert [row[:2] for row in rows] == [["batch", "a"], ["batch", "b"], ["chat", "a"], ["chat", "b"]]
    assert rows[0][2:] == ["10", "100.0", "50.0", "–", "–", "40.0"]
    assert rows[2][2:] == ["90", "100.0", "95.3", "0.21", "0.90", "9.0"]
