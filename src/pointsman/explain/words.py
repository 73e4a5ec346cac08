"""Each chapter of a story as a sentence without its decision's table."""

from collections.abc import Callable
from typing import Any

from pointsman.observe.chapters import (
    AnyChapter,
    Began,
    Broken,
    Chosen,
    Finished,
    Held,
    Sent,
    TurnedAway,
    Waited,
    WentOn,
)


def words(chapter: AnyChapter) -> str:
    """What happened."""
    return _WORDS[type(chapter)](chapter)


def _held(one: Held) -> str:
    often = f", the last of {one.decision.times} times" if one.decision.times > 1 else ""
    return f"held by {one.decision.policy} ({one.decision.reason}){often}"


def _chosen(one: Chosen) -> str:
    return f"{one.decision.policy} chose {one.decision.node} ({one.decision.reason})"


def _waited(one: Waited) -> str:
    expected = "" if one.expected_s is None else f"; about {one.expected_s:.3g} s to go by the pace of late"
    return f"waits at position {one.position}, order {one.order}{expected}"


def _sent(one: Sent) -> str:
    which = "" if one.attempt == 1 else f", try {one.attempt}"
    why = ", forwarded to where its cache is" if one.forwarded else ""
    cached = f"{one.overlap_tokens:.0f} of {one.prompt_tokens:.0f} prompt tokens believed cached there"
    return f"sent to {one.node}{which}{why}: {cached}"


def _began(one: Began) -> str:
    return f"first token from {one.node}"


def _broken(one: Broken) -> str:
    then = "the rest is asked of another node" if one.resumed else "and not resumed"
    return f"interrupted on {one.node} ({one.cause}), {one.tokens} tokens delivered; {then}"


def _went_on(one: WentOn) -> str:
    return f"resumed on {one.node}, {one.tokens} tokens in, after a pause of {one.gap_s:.3f} s"


def _finished(one: Finished) -> str:
    cached = "" if one.cached_tokens is None else f", {one.cached_tokens} of them cached"
    counted = f"; {one.prompt_tokens} prompt tokens{cached}, {one.completion_tokens} of the answer"
    pace = "" if one.tpot_s is None else f", {1000 * one.tpot_s:.1f} ms each"
    what = "ended" if one.final else "this try ended"
    tokens = counted + pace if one.prompt_tokens or one.completion_tokens else ""
    return f"{what} on {one.node} after {one.seconds:.3f} s: {one.verdict} ({one.reason}, {one.status}){tokens}"


def _turned_away(one: TurnedAway) -> str:
    return f"refused: {one.code}, status {one.status}"


_WORDS: dict[type, Callable[[Any], str]] = {
    Held: _held,
    Chosen: _chosen,
    Waited: _waited,
    Sent: _sent,
    Began: _began,
    Broken: _broken,
    WentOn: _went_on,
    Finished: _finished,
    TurnedAway: _turned_away,
}
