"""What recordings tell of timing."""

import pytest

from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import run
from pointsman.sim.timings import leading, timings
from pointsman.workload.recording_line import Recorded


def line(second: float, **more: object) -> Recorded:
    usual: dict[str, object] = {
        "timestamp": 1000 * second,
        "input_length": 200,
        "output_length": 11,
        "outcome": "ok",
        "node": "a",
        "stream": True,
        "wait_ms": 50.0,
        "ttft_ms": 150.0,
        "total_ms": 650.0,
    }
    return Recorded(**usual | more)  # type: ignore[arg-type]


def test_a_request_counts_from_its_sending_to_the_node() -> None:
    _, one = timings([line(3.0)], 16, 4096)["a"]
    assert (one.at_s, one.ttft_s, one.tpot_s) == pytest.approx((0.05, 0.1, 0.05))
    assert (one.sample.prompt_tokens, one.sample.output_tokens, one.fresh_tokens) == (200, 11, 200)


def test_what_is_not_told_is_not_known() -> None:
    _, plain, short = timings([line(0.0, ttft_ms=None), line(1.0, output_length=4)], 16, 4096)["a"]
    assert (plain.ttft_s, plain.tpot_s) == (None, None)
    assert short.tpot_s is None
    assert short.ttft_s is not None


def test_nodes_have_what_was_sent_to_them_in_that_order() -> None:
    late = line(1.0, wait_ms=5000.0, ttft_ms=5100.0, total_ms=5600.0)
    found = timings(
        [late, line(2.0), line(3.0, node="b"), line(4.0, outcome="cancelled"), line(5.0, node="")], 16, 4096
    )
    assert list(found) == ["a", "b"]
    assert [one.at_s for one in found["a"][1:]] == pytest.approx([1.05, 5.0])
    assert len(found["b"]) == 2


def test_what_engines_found_cached_is_found_again() -> None:
    """100 tokens are six whole blocks; the hashes of the gateway are of no use then."""
    lines = [line(0.0, cached_length=0), line(9.0, cached_length=100), line(18.0, cached_length=48)]
    timed = timings(lines, 16, 4096)["a"]
    served = run(profile_of(EngineConfig()), ((one.at_s, one.sample) for one in timed))
    assert [one.cached_tokens for one in served[1:]] == [0, 96, 48]


def test_else_recorded_prefixes_decide() -> None:
    lines = [line(9.0 * number, hash_ids=tuple(range(12)), tokens_per_hash=16.0) for number in range(2)]
    timed = timings(lines, 16, 4096)["a"]
    served = run(profile_of(EngineConfig()), ((one.at_s, one.sample) for one in timed))
    assert [one.cached_tokens for one in served[1:]] == [0, 192]


def test_what_ran_beside_requests_left_out_tells_nothing() -> None:
    nodes = timings([line(0.0), line(1.0, total_ms=9000.0), line(2.0), line(3.0)], 16, 4096)
    first, second = leading(nodes, 2)["a"][1:]
    assert first.tpot_s is not None
    assert second.tpot_s is None
    assert leading(nodes, 4) == nodes
