"""Chapters as JSON."""

import msgspec

from pointsman.observe.chapters import Finished, Story, TurnedAway, Waited


def test_chapters_are_told_apart_in_json_and_read_again() -> None:
    chapters = [
        Waited(after_s=0.0, position=2, order="fcfs"),
        Finished(after_s=2.0, node="a", verdict="ok", reason="done", status=200, seconds=1.0),
        TurnedAway(after_s=3.0, code="queue_full", status=503),
    ]
    story = Story("r", 1, "m", "acme", 1.0, 5.0, "ended", chapters)  # type: ignore[arg-type]
    text = msgspec.json.encode(story)
    assert b'{"event":"waited","after_s":0.0,"position":2,"order":"fcfs"}' in text
    assert msgspec.json.decode(text, type=Story) == story
