"""Figures of a run: who counts, and how balance is measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.observe.comparison import Sample, Window, figures

WINDOW = Window(10.0, 20.0)
CAPACITY = {"a": 1.0, "b": 0.5}


def sample(sent=12.0, first=0.5, done=2.5, ok=True, node="a", prompt=100, cached=40, output=21):
    first_s = None if first is None else sent + first
    return Sample(sent, first_s, sent + done, ok, prompt, cached, output, node)


def imbalance(samples, capacity):
    return figures("x", samples, WINDOW, capacity).imbalance


def test_plain_figures():
    result = figures("x", [sample(), sample(sent=13.0, first=1.5)], WINDOW, CAPACITY)
    assert result.requests == 2
    assert result.success == 1.0
    assert result.throughput_rps == pytest.approx(0.2)
    assert result.ttft_mean_s == pytest.approx(1.0)
    assert result.ttft_p50_s == pytest.approx(1.0)
    assert result.tpot_mean_s == pytest.approx((2.0 / 20 + 1.0 / 20) / 2)
    assert result.hit_ratio == pytest.approx(0.4)


def test_requests_count_by_when_they_were_sent():
    result = figures("x", [sample(sent=9.9), sample(sent=20.0), sample(sent=10.0)], WINDOW, CAPACITY)
    assert result.requests == 1


def test_throughput_counts_answers_completed_in_the_window():
    early, late = sample(sent=9.0, done=2.0), sample(sent=19.0, done=2.0)
    assert figures("x", [early, late], WINDOW, CAPACITY).throughput_rps == pytest.approx(0.1)


def test_a_request_cut_before_its_first_token_counts_with_its_age():
    result = figures("x", [sample(first=None, done=7.0, ok=False)], WINDOW, CAPACITY)
    assert result.ttft_p99_s == pytest.approx(7.0)
    assert result.success == 0.0
    assert result.tpot_mean_s is None


def test_nothing_sent_has_no_figures():
    result = figures("x", [], WINDOW, CAPACITY)
    assert (result.requests, result.success, result.ttft_mean_s, result.hit_ratio, result.imbalance) == (0, *[None] * 4)


def test_a_slow_node_is_in_balance_with_less_work():
    fair = [sample(node="a"), sample(node="a"), sample(node="b")]
    assert imbalance(fair, CAPACITY) == pytest.approx(0.0)
    assert imbalance([sample(node="a"), sample(node="b")], CAPACITY) == pytest.approx(1 / 3)


def test_an_idle_node_is_imbalance():
    assert imbalance([sample(node="a")], CAPACITY) == pytest.approx(1.0)


def test_work_on_an_unknown_node_is_left_out():
    assert imbalance([sample(node="")], CAPACITY) is None


@given(st.lists(st.floats(0.01, 30), min_size=1, max_size=50))
def test_percentiles_are_ordered(waits):
    result = figures("x", [sample(first=wait, done=wait + 1) for wait in waits], WINDOW, CAPACITY)
    assert min(waits) - 1e-9 <= result.ttft_p50_s <= result.ttft_p99_s <= max(waits) + 1e-9
