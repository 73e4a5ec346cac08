"""The page of who waits."""

from typing import Any

from pointsman.admin.queue_page import queue_page
from pointsman.brain.model.request import Request
from pointsman.observe.queues import Queue, Waiting


def queue(*first: Waiting, **more: Any) -> Queue:
    settings: dict[str, Any] = {"model": "m", "apart": "", "order": "fcfs", "length": len(first), "oldest_s": 3.0}
    return Queue(**settings | {"interval_s": 0.5, "first": list(first)} | more)


def waiting(**more: Any) -> Waiting:
    settings: dict[str, Any] = {"position": 1, "request_id": "r1", "tenant": "acme", "priority": 1.0}
    settings |= {"prompt_tokens": 12_000, "waited_s": 3.0, "expected_s": 1.0, "interruptions": 0}
    return Waiting(**settings | more)


def test_nobody_waits() -> None:
    page = queue_page([])
    assert "Nobody waits" in page
    assert "<table" not in page


def test_everyone_is_shown_with_a_link_to_its_story() -> None:
    page = queue_page([queue(waiting(), waiting(position=2, request_id="r2", waited_s=1.0, expected_s=None))])
    assert "2 wait" in page
    assert "2 in line by fcfs, the oldest for 3.0 s, one placed every 0.5 s of late." in page
    assert '<a href="/decisions/r1">r1</a>' in page
    assert "12,000" in page
    assert "unknown" in page
    assert 'width="75.0%"' in page  # of the four seconds that the longest wait is expected to take


def test_what_clients_chose_is_no_markup() -> None:
    page = queue_page([queue(waiting(request_id="a/<b>", tenant="<i>", interruptions=2), apart="failed on <a>")])
    assert '<a href="/decisions/a%2F%3Cb%3E">a/&lt;b&gt;</a>' in page
    assert "&lt;i&gt;" in page
    assert "<h2>m (failed on &lt;a&gt;)</h2>" in page
    assert "interrupted 2×" in page


def test_who_is_not_shown_is_counted() -> None:
    assert "and 1,999 more" in queue_page([queue(waiting(), length=2000)])


def test_a_wait_that_has_just_begun() -> None:
    page = queue_page([queue(waiting(waited_s=0.0, expected_s=0.0), interval_s=None, oldest_s=0.0)])
    assert "1 in line by fcfs, the oldest for 0.0 s." in page


async def test_it_is_served(client: Any, scene: Any) -> None:
    for number in range(2, 71):
        scene.dispatcher.submit(Request(id=f"r{number}", model="m", prompt_tokens=10.0), 100.0)
    (told,) = await (await client.get("/queue?n=1")).json()
    assert told["length"] >= 1
    assert [one["position"] for one in told["first"]] == [1]
    page = await client.get("/queue.html")
    assert (page.status, page.content_type) == (200, "text/html")
    assert told["first"][0]["request_id"] in await page.text()
