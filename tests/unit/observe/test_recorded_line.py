from pointsman.brain.cache.chain import trace_chain
from pointsman.brain.model.facts import Refused
from pointsman.brain.model.request import Chain, Request
from pointsman.observe.recorded_line import NO_TRY, Life, Lines

LINES = Lines(1_700_000_000.0, b"secret")


def refused(**request: object) -> Life:
    given = {"id": "r", "model": "m"} | request
    return Life(10.0, NO_TRY, Refused(12.5, 1, Request(**given), "queue_full", 429))  # type: ignore[arg-type]


def test_a_request_that_no_node_got() -> None:
    line = LINES.of(refused(prompt_tokens=70.4, tenant="t", priority=2.0, stream=True))
    assert (line.timestamp, line.total_ms) == (1_700_000_010_000.0, 2500.0)
    assert (line.outcome, line.reason, line.status) == ("refused", "queue_full", 429)
    assert (line.input_length, line.output_length, line.node, line.tries) == (70, 0, "", 0)
    assert (line.tenant, line.priority, line.stream, line.wait_ms) == ("t", 2.0, True, None)


def test_links_lose_what_not_every_reader_could_keep() -> None:
    links = [2**64 - 1, 5 << 11]
    line = LINES.of(refused(prompt_bytes=600, chain=Chain("bytes", links, 0.0, 256)))
    assert line.hash_ids == (2**53 - 1, 5)
    assert (line.bytes_per_hash, line.tokens_per_hash, line.input_bytes) == (256, 0.0, 600)


def test_a_traces_own_ids_are_hashed_as_links_are() -> None:
    one = LINES.of(refused(chain=Chain("trace", [1, 2], 64.0))).hash_ids
    other = LINES.of(refused(chain=Chain("trace", [1, 3], 64.0))).hash_ids
    assert one[0] == other[0] != trace_chain(0, [1], 1).links[0] >> 11
    assert one[1] != other[1]


def test_a_session_is_told_from_others_and_not_named() -> None:
    ids = [LINES.of(refused(session=name)).session_id for name in ("ann@example.org", "ann@example.org", "bob", "")]
    assert ids[0] == ids[1] != ids[2]
    assert isinstance(ids[0], int)
    assert ids[3] is None
    assert Lines(0.0, b"other").of(refused(session="bob")).session_id != ids[2]
