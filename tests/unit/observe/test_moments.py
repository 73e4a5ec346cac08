"""Each moment tells the chapter that its fact is told as."""

from collections.abc import Callable
from typing import Any

import pytest

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.facts import Interrupted, Queued, Refused, Resumed
from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.request import Request
from pointsman.observe.chapters import AnyChapter, Began, Broken, Finished, Sent, TurnedAway, Waited, WentOn
from pointsman.observe.moments import Beginning, Breaking, Ending, GoingOn, Moment, Sending, Turning, Waiting

REQUEST = Request(id="r", model="m")


@pytest.fixture
def told() -> Callable[[Moment], AnyChapter]:
    return lambda moment: moment.chapter(10.0, Fleet(), "m")


def test_of_a_try(life: Any, told: Callable[[Moment], AnyChapter]) -> None:
    one = life()
    sent = Sending(one.placed(reason="forward"), None)
    began = Beginning(one.first_token(1.5), sent)
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 64}
    ended = Ending(one.ended(14.0, final=False, tpot_s=0.25, verdict=Verdict.FAIL, reason="reset", **usage), began)
    assert ended.before is began
    assert told(sent) == Sent(0.5, "a", 1, 100, 40, True)
    assert told(began) == Began(1.5, "a", 1.5)
    assert told(ended) == Finished(4.0, "a", "fail", "reset", 200, 3.5, 100, 7, 64, 0.25, False)


def test_of_what_goes_another_way(told: Callable[[Moment], AnyChapter]) -> None:
    waits = Waiting(Queued(10.0, 1, REQUEST, 3, 0.5), None, "fcfs", None)
    broke = Breaking(Interrupted(12.0, 1, 1, REQUEST, "a", "reset", 7, True), waits)
    went_on = GoingOn(Resumed(13.0, 1, 2, REQUEST, "b", 7, 1.0), broke)
    turned = Turning(Refused(14.0, 1, REQUEST, "queue_full", 503), went_on)
    assert told(waits) == Waited(0.0, 3, "fcfs", 0.5, [])
    assert told(broke) == Broken(2.0, "a", "reset", 7, True)
    assert told(went_on) == WentOn(3.0, "b", 7, 1.0)
    assert told(turned) == TurnedAway(4.0, "queue_full", 503)
