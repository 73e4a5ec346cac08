"""A simulated node: its moments, and what can be seen of it."""

import pytest

from pointsman.engine.sequence import Sequence
from pointsman.sim.fleet import NodeKind, nodes_of
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.node import SimNode

(NODE,) = nodes_of(
    [NodeKind(name="n", prefill_tokens_per_second=10_000, decode_base_ms=10, overhead_ms=0, max_num_seqs=2)]
)


class Watched:
    """A node and what it told, each with its moment."""

    def __init__(self, *, exact: bool = False) -> None:
        self.loop = Loop(0.0)
        self.seen: list[tuple[str, int, float]] = []
        self.ended: list[tuple[str, float]] = []
        self.node = SimNode(
            NODE,
            self.loop,
            lambda sequence, tokens: self.seen.append((sequence.key, tokens, self.loop.now)),
            lambda sequence: self.ended.append((sequence.key, self.loop.now)),
            lambda name, batch: None,
            exact=exact,
        )

    def submit(self, moment: float, key: str, prompt: int, output: int) -> Sequence:
        sequence = Sequence(key, prompt, output)
        self.loop.at(moment, Rank.CLIENT, self.node.submit, sequence)
        return sequence


def test_tokens_are_told_as_the_gateway_counts_them() -> None:
    watched = Watched(exact=True)
    watched.submit(5.0, "a", 1000, 34)
    watched.loop.run()
    assert [(key, tokens) for key, tokens, _ in watched.seen] == [("a", 1), ("a", 17), ("a", 33)]
    assert watched.seen[0][2] == pytest.approx(5.0 + 0.010 + 0.1)
    assert watched.ended == [("a", pytest.approx(5.110 + 0.330))]


def test_a_node_that_takes_many_steps_at_a_time_tells_of_the_first_token_and_the_end() -> None:
    watched = Watched()
    watched.submit(5.0, "a", 1000, 34)
    watched.loop.run()
    assert [(key, tokens) for key, tokens, _ in watched.seen] == [("a", 1)]
    assert watched.ended == [("a", pytest.approx(5.110 + 0.330))]


def test_a_request_that_comes_during_a_step_waits_for_its_end() -> None:
    watched = Watched()
    watched.submit(0.0, "a", 1000, 1)
    watched.submit(0.05, "b", 1000, 1)
    watched.loop.run()
    assert watched.ended == [("a", pytest.approx(0.110)), ("b", pytest.approx(0.220))]


def test_what_is_aborted_is_never_told_again() -> None:
    watched = Watched()
    sequence = watched.submit(0.0, "a", 1000, 50)
    watched.loop.at(0.2, Rank.HEARD, lambda _: watched.node.abort(sequence))
    watched.loop.run()
    assert [tokens for _, tokens, _ in watched.seen] == [1]
    assert watched.ended == []
    assert not watched.node.abort(sequence)


def test_a_report_tells_what_metrics_tell_and_no_more() -> None:
    watched = Watched()
    for key in "abc":
        watched.submit(0.0, key, 1600, 20)
    reports = []
    watched.loop.at(0.3, Rank.HEARD, lambda _: reports.append(watched.node.report(0.1)))
    watched.loop.run()
    (report,) = reports
    assert (report.running, report.waiting, report.ok, report.seconds) == (2, 1, True, 0.1)
    assert report.kv_usage > 0
    assert report.slots is None


def test_a_slow_node_is_slow_until_it_is_well_again() -> None:
    watched = Watched()
    for moment, factor in ((0.0, 3.0), (1.0, 1.0)):
        watched.loop.at(moment, Rank.ENGINE, watched.node.slow_down, factor)
    watched.submit(0.0, "slow", 1000, 1)
    watched.submit(2.0, "well", 1000, 1)
    watched.loop.run()
    assert watched.ended == [("slow", pytest.approx(0.330)), ("well", pytest.approx(2.110))]


def test_counters_add_up() -> None:
    watched = Watched()
    watched.submit(0.0, "a", 1000, 11)
    watched.loop.run()
    counters = watched.node.counters()
    assert (counters.requests, counters.prompt_tokens, counters.generated_tokens) == (1, 1000, 11)
    assert counters.busy_s == pytest.approx(0.210)
