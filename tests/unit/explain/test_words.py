"""Chapters in words."""

from typing import get_args

import pytest

from pointsman.explain.words import _WORDS, words
from pointsman.observe.chapters import AnyChapter, Broken, Finished, Held, Sent, Waited
from pointsman.observe.decision import Decision


def test_every_chapter_has_words() -> None:
    assert set(_WORDS) == set(get_args(AnyChapter))


@pytest.mark.parametrize(
    ("chapter", "told"),
    [
        (Waited(after_s=0.0, position=3, order="fair"), "waits at position 3, order fair"),
        (
            Waited(after_s=0.0, position=1, order="fcfs", expected_s=2.134),
            "waits at position 1, order fcfs; about 2.13 s to go by the pace of late",
        ),
        (
            Sent(after_s=0.0, node="a", attempt=2, prompt_tokens=90.0, overlap_tokens=64.0, forwarded=True),
            "sent to a, try 2, forwarded to where its cache is: 64 of 90 prompt tokens believed cached there",
        ),
        (
            Broken(after_s=0.0, node="a", cause="reset", tokens=7, resumed=False),
            "interrupted on a (reset), 7 tokens delivered; and not resumed",
        ),
        (
            Finished(after_s=0.0, node="a", verdict="fail", reason="connect", status=502, seconds=0.1, final=False),
            "this try ended on a after 0.100 s: fail (connect, 502)",
        ),
        (
            Finished(
                after_s=0.0,
                node="a",
                verdict="ok",
                reason="done",
                status=200,
                seconds=1.0,
                prompt_tokens=90,
                completion_tokens=10,
                cached_tokens=64,
                tpot_s=0.0123,
            ),
            "ended on a after 1.000 s: ok (done, 200); 90 prompt tokens, 64 of them cached, 10 of the answer, "
            "12.3 ms each",
        ),
    ],
)
def test_words(chapter: AnyChapter, told: str) -> None:
    assert words(chapter) == told


@pytest.mark.parametrize(
    ("times", "told"), [(1, "held by greedy (full)"), (3, "held by greedy (full), the last of 3 times")]
)
def test_that_a_request_was_held_more_than_once_is_told(times: int, told: str) -> None:
    decision = Decision("r", 1, "m", "greedy", 0.0, "full", None, [], times=times)
    assert words(Held(after_s=0.0, decision=decision)) == told
