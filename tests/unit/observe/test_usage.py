"""Usage records, over a real dispatcher."""

import errno
from typing import Any

import msgspec
import pytest
from tests.support.driver import DONE, FAILED, TestDriver

from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.observe.usage import UsageLog, UsageRecord


class Scene:
    """A driver whose usage is written down; `failing` makes the disk full."""

    def __init__(self, *nodes: str, **settings: Any) -> None:
        self.failing = False
        self.lines: list[bytes] = []
        self.log = UsageLog(self._sink, epoch=1000.0, most_pending=3)
        self.driver = TestDriver(observers=[self.log], **settings)
        for name in nodes:
            self.driver.add(name, slots=1)

    def _sink(self, lines: bytes) -> None:
        if self.failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.lines += lines.splitlines()

    def records(self) -> list[UsageRecord]:
        self.log.flush()
        return [msgspec.json.decode(line, type=UsageRecord) for line in self.lines]

    def record(self) -> UsageRecord:
        (one,) = self.records()
        return one


def test_what_the_engine_counted_is_written_with_who_and_when() -> None:
    scene = Scene("a")
    first, _ = scene.driver.submit(tenant="acme"), scene.driver.submit(tenant="beta")
    scene.driver.now = 2.0
    scene.driver.finish(scene.driver.lease_of(first), DONE)
    second = next(iter(scene.driver.running))
    scene.driver.now = 3.0
    scene.driver.first_token(second)
    scene.driver.now = 5.0
    cached = Outcome(verdict=Verdict.OK, prompt_tokens=90, completion_tokens=7, cached_tokens=64)
    scene.driver.finish(second, cached)
    _, one = scene.records()
    assert (one.tenant, one.node, one.outcome, one.counted_by) == ("beta", "a", "ok", "engine")
    assert (one.prompt_tokens, one.completion_tokens, one.cached_tokens) == (90, 7, 64)
    assert (one.time, one.waited_s, one.ttft_s, one.seconds) == (1000.0, 2.0, 3.0, 5.0)


def test_where_no_usage_came_tokens_are_those_that_were_seen() -> None:
    scene = Scene("a")
    ticket = scene.driver.submit(tokens=120)
    lease = scene.driver.lease_of(ticket)
    scene.driver.first_token(lease)
    scene.driver.tokens(lease, 4)
    scene.driver.obey(scene.driver.dispatcher.cancel(ticket, 1.0))
    one = scene.record()
    assert (one.cancelled, one.outcome, one.counted_by) == (True, "cancelled", "events")
    assert (one.prompt_tokens, one.completion_tokens, one.cached_tokens) == (120, 5, None)


def test_a_request_that_took_two_nodes_is_one_record() -> None:
    scene = Scene("a", "b")
    ticket = scene.driver.submit(resumable=True, tokens=100)
    lease = scene.driver.lease_of(ticket)
    scene.driver.first_token(lease)
    lost = Outcome(verdict=Verdict.FAIL, reason="reset", resumable=True, new_tokens=7)
    scene.driver.finish(lease, lost)
    node = scene.driver.node(ticket)
    again = scene.driver.lease_of(ticket)
    scene.driver.first_token(again)
    scene.driver.tokens(again, 2)
    scene.driver.finish(again, Outcome(verdict=Verdict.OK))
    one = scene.record()
    assert (one.node, one.interruptions, one.completion_tokens, one.prompt_tokens) == (node, 1, 10, 100)


def test_a_refusal_after_failed_tries_is_one_record_without_tokens() -> None:
    scene = Scene("a")
    ticket = scene.driver.submit()
    scene.driver.finish(scene.driver.lease_of(ticket), FAILED)
    one = scene.record()
    assert (one.outcome, one.reason, one.status, one.node) == ("refused", "node_failed", 502, "a")
    assert (one.prompt_tokens, one.completion_tokens, one.cancelled) == (0, 0, False)


@pytest.mark.parametrize("leaves", [True, False])
def test_what_was_had_before_the_rest_was_refused_or_not_waited_for_is_written(leaves: bool) -> None:
    scene = Scene("a", "b", queue_timeout_s=3.0)
    ticket, _ = scene.driver.submit(resumable=True, tokens=100), scene.driver.submit()
    lease = scene.driver.lease_of(ticket)
    scene.driver.first_token(lease)
    scene.driver.finish(lease, Outcome(verdict=Verdict.FAIL, reason="reset", resumable=True, new_tokens=7))
    if leaves:
        scene.driver.cancel(ticket)
    scene.driver.tick(4.0)
    one = scene.record()
    assert (one.outcome, one.cancelled) == (("cancelled", True) if leaves else ("refused", False))
    assert (one.prompt_tokens, one.completion_tokens, one.counted_by) == (100, 7, "events")


def test_who_left_while_waiting_is_told_as_such() -> None:
    scene = Scene()
    ticket = scene.driver.submit()
    scene.driver.obey(scene.driver.dispatcher.cancel(ticket, 1.0))
    one = scene.record()
    assert (one.outcome, one.cancelled, one.node, one.waited_s) == ("cancelled", True, "", None)


def test_a_full_disk_holds_records_back_and_loses_only_those_beyond_the_bound(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene("a")
    scene.failing = True
    for _ in range(5):
        scene.driver.finish(scene.driver.lease_of(scene.driver.submit()), DONE)
        scene.log.flush()
    assert (scene.log.lost, scene.lines) == (2, [])
    assert [message.split(":")[0] for message in caplog.messages] == [
        "usage records cannot be written and wait",
        "usage records are lost",
    ]
    scene.failing = False
    assert [one.request_id for one in scene.records()] == ["r1", "r2", "r3"]


def test_nothing_is_remembered_of_what_is_over() -> None:
    scene = Scene("a", "b", queue_limit=1)
    tickets = [scene.driver.submit() for _ in range(4)]
    for ticket in tickets[:3]:
        scene.driver.finish(scene.driver.lease_of(ticket), DONE)
    assert not scene.log._lives
    assert not scene.log._tickets
