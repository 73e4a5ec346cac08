"""What each kind of clients got."""

import pytest

from pointsman.observe.comparison import Window
from pointsman.sim.by_clients import ClientFigures, by_clients, mean_by_clients
from pointsman.sim.record import Record
from pointsman.sim.summary import Slo

WINDOW, SLO = Window(10.0, 100.0), Slo(ttft_s=1.0, tpot_s=0.1)


def record(dialogue: int, sent_s: float, ttft_s: float, *, ok: bool = True) -> Record:
    first_s = sent_s + ttft_s if ok else None
    return Record(sent_s, first_s, sent_s + ttft_s + 0.5, ok, 100, 0, 11, "n", dialogue=dialogue)


def test_kinds_are_told_apart_by_their_dialogues() -> None:
    records = [record(0, 20.0, 0.2), record(1, 20.0, 3.0), record(0, 30.0, 0.4), record(1, 5.0, 0.1)]
    long, short = by_clients(records, ["short", "long"], WINDOW, SLO)
    assert (long.name, long.requests, long.in_slo, long.ttft_p50_s) == ("long", 1, 0.0, 3.0)
    assert (short.name, short.requests, short.in_slo) == ("short", 2, 1.0)
    assert short.ttft_p50_s == pytest.approx(0.3)
    assert short.e2e_p99_s == pytest.approx(0.9, abs=0.01)


def test_a_single_kind_has_figures_and_a_trace_has_no_kind() -> None:
    (short,) = by_clients([record(0, 20.0, 0.2)], ["short"], WINDOW, SLO)
    assert (short.name, short.requests) == ("short", 1)
    assert by_clients([record(0, 20.0, 0.2)], [""], WINDOW, SLO) == ()


def test_a_kind_that_sent_nothing_has_no_figures() -> None:
    _, silent = by_clients([record(0, 20.0, 0.2)], ["a", "b"], WINDOW, SLO)
    assert silent == ClientFigures("b", 0, None, None, None, None, None, None)


def test_failed_requests_count_against_success_and_not_as_answers() -> None:
    kind, _ = by_clients([record(0, 20.0, 0.2), record(0, 20.0, 9.0, ok=False)], ["a", "b"], WINDOW, SLO)
    assert (kind.success, kind.in_slo) == (0.5, 0.5)
    assert kind.e2e_p99_s == pytest.approx(0.7)


def test_means_leave_out_what_a_run_lacks() -> None:
    one = ClientFigures("a", 2, 1.0, 1.0, 0.5, None, 2.0, 3.0)
    other = ClientFigures("a", 4, 0.5, 0.0, None, None, 4.0, 5.0)
    assert mean_by_clients([(one,), (other,)]) == (ClientFigures("a", 3.0, 0.75, 0.5, 0.5, None, 3.0, 4.0),)
