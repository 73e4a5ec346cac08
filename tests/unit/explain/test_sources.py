"""Who knows of a request."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.config.flags import ConfigError
from pointsman.explain.sources import Unknown, from_gateway, from_journal
from pointsman.observe.record import Journaled, begin


class Answering(BaseHTTPRequestHandler):
    """Knows the request `a/b`, and of nothing else."""

    def do_GET(self) -> None:
        known = self.path == "/decisions/a%2Fb"
        story = {"request_id": "a/b", "ticket": 1, "model": "m", "tenant": "", "priority": 1, "arrived": 0}
        found = [{**story, "state": "ended", "chapters": []}]
        body = json.dumps(found if known else {"error": {"message": "nothing is remembered", "code": "x"}}).encode()
        self.send_response(200 if known else 404)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def admin() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_gateway_is_asked_by_the_id_whatever_is_in_it(admin: str) -> None:
    (story,) = from_gateway(admin, "a/b")
    assert (story.request_id, story.state) == ("a/b", "ended")


def test_what_a_gateway_says_of_an_unknown_id_is_told(admin: str) -> None:
    with pytest.raises(Unknown, match="nothing is remembered"):
        from_gateway(f"http://{admin}", "c")


def test_where_no_gateway_answers_the_flag_is_named() -> None:
    with pytest.raises(Unknown, match=r"no gateway answers at 127.0.0.1:1 .*--admin HOST:PORT"):
        from_gateway("127.0.0.1:1", "r")


def journal() -> list[bytes]:
    settings, table = BrainSettings(), PolicyTable(build("round_robin"))
    lines: list[bytes] = []
    dispatcher = Journaled(Dispatcher(settings, table), begin(settings, table, 0.0), lines.append)
    dispatcher.add_node(NodeSpec(url="http://a", id="a", models=("m",)), 1.0)
    dispatcher.report(NodeReport(node="a", ok=True), 1.0)
    for name in ("r", "other"):
        dispatcher.submit(Request(id=name, model="m"), 2.0)
    return lines


def test_a_journal_is_asked_by_deciding_again() -> None:
    (story,) = from_journal(journal(), "r", "j")
    assert (story.arrived, [type(chapter).__name__ for chapter in story.chapters]) == (2.0, ["Chosen", "Sent"])


def test_a_journal_without_the_request_and_a_file_that_is_no_journal_are_told_apart() -> None:
    with pytest.raises(Unknown, match="j has no request 'x'"):
        from_journal(journal(), "x", "j")
    with pytest.raises(ConfigError, match="`journal`: j: line 1"):
        from_journal([b"no\n"], "x", "j")
