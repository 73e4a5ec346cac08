"""What a request came to."""

from pointsman.brain.model.request import Request
from pointsman.engine.sequence import Sequence
from pointsman.sim.demand import RowAsk
from pointsman.sim.exchange import Exchange
from pointsman.workload.rows import TraceRow


def exchange(*, stream: bool) -> Exchange:
    return Exchange(0, 0, RowAsk(TraceRow(1.0, 100, 5)), Request(id="0-0", model="m", stream=stream), 1.0)


def served(generated: int) -> Sequence:
    sequence = Sequence("1", 100, 5)
    sequence.generated, sequence.cached_tokens = generated, 48
    return sequence


def test_a_stream_has_its_first_token() -> None:
    one = exchange(stream=True)
    one.begin("n", 1, served(5), 1.25)
    assert not one.delivered
    one.saw_first(1.5)
    assert one.delivered
    record = one.record(2.0)
    assert (record.ok, record.ttft_s, record.cached_tokens, record.output_tokens) == (True, 0.5, 48, 5)
    assert (record.node, record.tries, record.id) == ("n", 1, "0-0")


def test_it_waits_until_its_first_node_and_is_on_its_last() -> None:
    one = exchange(stream=True)
    one.begin("n", 1, served(5), 1.25)
    one.begin("m", 2, served(5), 4.0)
    assert one.lease == 2
    record = one.record(5.0)
    assert (record.waited_s, record.placed_s, record.node, record.tries) == (0.25, 4.0, "m", 2)


def test_of_a_plain_answer_nobody_sees_the_first_token() -> None:
    one = exchange(stream=False)
    one.begin("n", 1, served(5), 1.25)
    assert not one.delivered
    record = one.record(2.0)
    assert (record.first_s, record.tpot_s, record.streamed) == (None, None, False)


def test_one_that_was_never_sent_has_failed_with_a_reason() -> None:
    record = exchange(stream=True).record(31.0, "queue_timeout")
    assert (record.ok, record.tries, record.problem, record.ttft_s) == (False, 0, "queue_timeout", 30.0)
    assert record.waited_s is record.placed_s is None


def test_the_longest_gap_is_that_of_a_stream_with_two_tokens() -> None:
    gaps = []
    for stream, generated in ((True, 5), (True, 1), (False, 5)):
        one = exchange(stream=stream)
        one.begin("n", 1, served(generated), 1.25)
        assert one.sequence is not None
        one.sequence.gap_s = 0.25
        gaps.append(one.record(2.0).gap_s)
    assert gaps == [0.25, None, None]
    assert one.record(2.0, "broken").gap_s is None


def test_what_was_delivered_before_an_interruption_stays() -> None:
    one = exchange(stream=True)
    one.begin("n", 1, served(2), 1.25)
    one.saw_first(1.5)
    assert one.new_tokens == 2
    one.keep(1.75)
    assert (one.delivered_tokens, one.new_tokens, one.answer_tokens) == (2, 0, 2)
    one.begin("m", 2, rest := served(3), 2.0)
    rest.cached_tokens = 0
    one.saw_first(2.5)
    record = one.record(3.0)
    assert (record.first_s, record.output_tokens, record.cached_tokens) == (1.5, 5, 48)
    assert record.gap_s == 0.75


def test_a_try_that_brought_nothing_keeps_nothing() -> None:
    one = exchange(stream=True)
    one.begin("n", 1, served(0), 1.25)
    one.keep(0.0)
    one.begin("m", 2, served(5), 2.0)
    one.saw_first(2.5)
    record = one.record(3.0)
    assert (record.first_s, record.output_tokens, record.gap_s) == (2.5, 5, 0.0)
