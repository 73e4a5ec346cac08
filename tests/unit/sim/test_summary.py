"""Figures of a simulated run."""

import pytest

from pointsman.observe.comparison import Sample, Window
from pointsman.sim.node import Counters
from pointsman.sim.summary import NodeFigures, Slo, mean_of, node_figures, summarized

CAPACITY = {"n-1": 1.0, "n-2": 0.5}
DID = tuple(NodeFigures(name, 1, None, 10, 2, busy) for name, busy in zip(CAPACITY, (0.2, 0.6), strict=True))


def sample(sent: float, first: float | None, done: float, tokens: int = 11, **more: object) -> Sample:
    return Sample(sent, first, done, more.pop("ok", True), 100, 0, tokens, "n-1", **more)  # type: ignore[arg-type]


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
def test_who_is_inside_the_slo(one: Sample, met: bool) -> None:
    assert Slo(5.0, 0.1).met(one) is met


def test_requests_count_by_when_they_were_sent() -> None:
    samples = [
        sample(0.5, 0.6, 0.7),
        sample(1.0, 1.5, 2.0),
        sample(2.0, 3.0, 9.0),
        sample(2.0, None, 4.0, streamed=False),
        sample(2.5, None, 3.0, ok=False),
    ]
    summary = summarized("p", samples, Window(1.0, 3.0), Slo(), CAPACITY, DID)
    assert (summary.requests, summary.success, summary.in_slo) == (4, 0.75, 0.5)
    assert summary.goodput_rps == 1.0
    assert summary.ttft_mean_s == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert summary.e2e_p50_s == pytest.approx(2.0)
    assert summary.tpot_p99_s == pytest.approx(0.6, rel=0.02)
    assert (summary.busy, summary.preemptions) == (0.4, 4)


def test_without_requests_there_are_no_figures() -> None:
    summary = summarized("p", [], Window(0.0, 1.0), Slo(), CAPACITY, DID)
    assert summary.success is summary.e2e_p99_s is summary.in_slo is None
    assert summary.goodput_rps == 0.0


def test_the_mean_over_seeds_leaves_out_what_a_run_lacks() -> None:
    window = Window(0.0, 10.0)
    one = summarized("p", [sample(1.0, 2.0, 3.0)], window, Slo(), CAPACITY, DID)
    other = summarized("p", [sample(1.0, 4.0, 5.0), sample(1.0, 4.0, 5.0)], window, Slo(), CAPACITY, DID)
    none = summarized("p", [], window, Slo(), CAPACITY, DID)
    mean = mean_of([one, other, none])
    assert mean.name == "p"
    assert mean.requests == 1
    assert mean.ttft_mean_s == pytest.approx(2.0)


def test_a_nodes_figures_come_from_its_counters() -> None:
    assert node_figures("n", Counters(3, 100, 25, 7, 1, 9.0), 0.5) == NodeFigures("n", 3, 0.25, 7, 1, 0.5)
    assert node_figures("n", Counters(0, 0, 0, 0, 0, 0.0), 0.0).hit_ratio is None
