"""Figures of a simulated run."""

import numpy as np
import pytest

from pointsman.observe.comparison import Window
from pointsman.sim.process import Counters
from pointsman.sim.record import Record
from pointsman.sim.recorded import Recorded
from pointsman.sim.summary import NodeFigures, Slo, Summary, Terms, mean_of, node_figures, summarized

NODES = ("n-1", "n-2")
DID = tuple(NodeFigures(name, 1, None, 10, 2, 5, busy, 100) for name, busy in zip(NODES, (0.2, 0.6), strict=True))


def sample(sent: float, first: float | None, done: float, tokens: int = 11, **more: object) -> Record:
    given: dict[str, object] = {"ok": True, "prompt_tokens": 100, "node": "n-1", "tries": 1}
    return Record(sent, first, done, output_tokens=tokens, **given | more)  # type: ignore[arg-type]


def summary(records: list[Record], window: Window, **terms: object) -> Summary:
    given: dict[str, object] = {"alone": lambda prompts, outputs: np.full_like(prompts, 0.5)}
    return summarized("p", records, Terms(window, Slo(), NODES, (1.0, 0.5), **given | terms), DID, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "met"),
    [
        (sample(0, 5.0, 6.0), True),
        (sample(0, 5.1, 6.0), False),
        (sample(0, 1.0, 2.1), False),
        (sample(0, 1.0, 1.5, ok=False), False),
        (sample(0, None, 6.0, streamed=False), True),
        (sample(0, None, 6.1, streamed=False), False),
        (sample(0, 1.0, 1.0, tokens=1), True),
    ],
)
def test_who_is_inside_the_slo(one: Record, met: bool) -> None:
    assert Slo(5.0, 0.1).met(Recorded.of_records([one], NODES)).tolist() == [met]


def test_requests_count_by_when_they_were_sent() -> None:
    records = [
        sample(0.5, 0.6, 0.7),
        sample(1.0, 1.5, 2.0),
        sample(2.0, 3.0, 9.0),
        sample(2.0, None, 4.0, streamed=False),
        sample(2.5, None, 3.0, ok=False),
    ]
    found = summary(records, Window(1.0, 3.0))
    assert (found.requests, found.success, found.in_slo) == (4, 0.75, 0.5)
    assert found.goodput_rps == 1.0
    assert found.ttft_mean_s == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert found.e2e_p50_s == pytest.approx(2.0)
    assert found.tpot_p99_s == pytest.approx(0.6, rel=0.02)
    assert found.slowdown_mean == pytest.approx((1.0 + 7.0 + 2.0) / 3 / 0.5)


def test_what_nodes_did_is_added_up() -> None:
    found = summary([], Window(0.0, 1.0))
    assert (found.busy, found.preemptions, found.evictions, found.forwards) == (0.4, 4, 10, 7)
    assert found.node_ms_per_token == pytest.approx(1000 * (0.2 + 0.6) / 200)


def test_without_requests_there_are_no_figures() -> None:
    found = summary([], Window(0.0, 1.0))
    assert found.success is found.e2e_p99_s is found.in_slo is found.slowdown_mean is found.long_dialogues is None
    assert (found.goodput_rps, found.slowdown_by_length) == (0.0, ())


def test_the_worst_gap_is_of_those_that_have_one() -> None:
    records = [sample(0.0, 0.1, 1.0, gap_s=gap) for gap in (0.2, 0.4, None)]
    found = summary(records, Window(0.0, 10.0))
    assert (found.gap_mean_s, found.gap_p99_s) == (pytest.approx(0.3), pytest.approx(0.398))


def test_waiting_is_over_with_the_first_try() -> None:
    records = [
        sample(0.0, 2.0, 3.0, waited_s=0.5, placed_s=1.5, tries=3),
        sample(0.0, None, 9.0, ok=False, node="", tries=0),
    ]
    found = summary(records, Window(0.0, 10.0))
    assert (found.wait_mean_s, found.wait_p99_s, found.retries) == (0.5, 0.5, 2)


def test_balance_is_looked_at_over_time() -> None:
    """One node has both requests in the first half, the other in the second: never in balance, equal in the end."""
    first = [sample(0.0, 1.0, 5.0, placed_s=0.0) for _ in range(2)]
    second = [sample(5.0, 6.0, 10.0, placed_s=5.0, node="n-2") for _ in range(2)]
    found = summary(first + second, Window(0.0, 10.0))
    assert (found.in_flight_sd, found.in_flight_cv) == (pytest.approx(1.0), pytest.approx(1.0))
    together = [*first, *(sample(0.0, 1.0, 5.0, placed_s=0.0, node="n-2") for _ in range(2))]
    assert summary(together, Window(0.0, 10.0)).in_flight_sd == 0.0


def test_slowdown_is_told_from_the_shortest_to_the_longest() -> None:
    records = [sample(0.0, 0.5, 0.5 * k, prompt_tokens=k) for k in range(20, 0, -1)]
    found = summary(records, Window(0.0, 1.0))
    assert found.slowdown_by_length == pytest.approx([1.5 + 2 * k for k in range(10)])
    assert summary(records[:9], Window(0.0, 1.0)).slowdown_by_length == ()


def test_the_longest_tenth_has_its_own_tail() -> None:
    records = [sample(0.0, 0.1 * k, 9.0, prompt_tokens=k) for k in range(1, 21)]
    assert summary(records, Window(0.0, 1.0)).ttft_longest_p99_s == pytest.approx(1.999)


def test_a_long_dialogue_is_complete_when_nothing_of_it_failed() -> None:
    records = [
        sample(0.0, 0.1, 0.2, dialogue=0),
        sample(0.1, 0.2, 0.3, dialogue=1),
        sample(0.5, None, 0.6, ok=False, dialogue=1),
        sample(0.0, None, 0.2, ok=False, dialogue=2),
    ]
    assert summary(records, Window(0.0, 1.0), turns=(4, 9, 3)).long_dialogues == 0.5
    assert summary(records, Window(0.0, 1.0), turns=(1, 1, 1)).long_dialogues is None


def test_the_mean_over_seeds_leaves_out_what_a_run_lacks() -> None:
    window = Window(0.0, 10.0)
    one = summary([sample(1.0, 2.0, 3.0)], window)
    other = summary([sample(1.0, 4.0, 5.0), sample(1.0, 4.0, 5.0)] * 5, window)
    none = summary([], window)
    average = mean_of([one, other, none])
    assert average.name == "p"
    assert average.requests == 4
    assert average.ttft_mean_s == pytest.approx(2.0)
    assert average.slowdown_by_length == pytest.approx([8.0] * 10)
    assert mean_of([one, none]).slowdown_by_length == ()


def test_a_nodes_figures_come_from_its_counters() -> None:
    total = Counters(3, 100, 25, 30, 1, 4, 9.0)
    early, late = Counters(1, 50, 10, 7, 0, 0, 2.0), Counters(2, 80, 20, 20, 1, 2, 7.0)
    assert node_figures("n", total, early, late, 10.0) == NodeFigures("n", 3, 0.25, 30, 1, 4, 0.5, 13)
    idle = Counters(0, 0, 0, 0, 0, 0, 0.0)
    assert node_figures("n", idle, idle, idle, 10.0).hit_ratio is None
