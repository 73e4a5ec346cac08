import math

import pytest
from proxies.load import Client, Load, request
from proxies.servers import ANSWER, CHUNKS, LAST, NOT_FOUND, STREAM_HEAD, TOKEN, body_length, tokenized


class Wire:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.requests = 0

    def write(self, data: bytes) -> None:
        self.requests += data.count(b"POST ")


def connected(load: Load) -> tuple[Client, Wire]:
    client, wire = Client(load, request(0, streamed=False)), Wire()
    client.connection_made(wire)  # type: ignore[arg-type]
    return client, wire


def test_requests_that_find_no_idle_client_wait_for_the_next_answer() -> None:
    load = Load()
    client, wire = connected(load)
    load.ask(3)
    assert (wire.requests, load.due) == (1, 2)
    client.data_received(ANSWER)
    assert (wire.requests, load.due, load.answers) == (2, 1, 1)


def test_without_a_rate_every_answer_is_followed_by_a_request() -> None:
    load = Load()
    client, wire = connected(load)
    load.ask(math.inf)
    for _ in range(5):
        client.data_received(ANSWER)
    assert (wire.requests, load.answers) == (6, 5)


@pytest.mark.parametrize("size", [1, 7, 1000, 10**6])
def test_events_of_a_stream_are_counted_however_it_is_cut_between_them(size: int) -> None:
    load = Load()
    client, _ = connected(load)
    whole = [STREAM_HEAD, *[TOKEN] * CHUNKS, LAST]
    for at in range(0, len(whole), size):
        client.data_received(b"".join(whole[at : at + size]))
    assert (load.chunks, load.answers, load.errors) == (CHUNKS + 3, 1, {})


def test_a_refusal_and_a_closed_connection_are_errors() -> None:
    load = Load()
    client, _ = connected(load)
    client.data_received(NOT_FOUND)
    client.connection_lost(None)
    assert load.errors == {"status 404": 1, "connection closed": 1}


def test_clients_take_turns_and_one_whose_connection_closed_is_asked_no_more() -> None:
    load = Load()
    (one, _), (two, wire_of_two), (_, wire_of_three) = connected(load), connected(load), connected(load)
    load.ask(1)
    one.data_received(ANSWER)
    two.connection_lost(None)
    load.ask(1)
    assert (wire_of_two.requests, wire_of_three.requests) == (0, 1)


def test_prompts_share_their_system_part_and_differ_after_it() -> None:
    one, two = (request(number, streamed=True).partition(b'"role":"user"') for number in (1, 2))
    assert one[0] == two[0]
    assert one[2] != two[2]


def test_a_request_announces_its_length_under_any_capitals() -> None:
    head, _, body = request(3, streamed=False).partition(b"\r\n\r\n")
    assert body_length(head) == body_length(head.upper()) == len(body)
    assert body_length(b"GET /health HTTP/1.1\r\nhost: x") == 0


def test_equal_prefixes_have_equal_tokens() -> None:
    short, long = (tokenized(text).partition(b'"tokens": [')[2].rstrip(b"]}") for text in (b"abcdefgh", b"abcdefghij"))
    assert long.startswith(short)
