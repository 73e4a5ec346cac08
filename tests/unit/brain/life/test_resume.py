"""What is interrupted goes on, up to a bound."""

import pytest

from pointsman.brain.life.resume import MOST_INTERRUPTIONS, goes_on, interrupts, may_interrupt
from pointsman.brain.model.outcome import CANCELLED, Outcome, Verdict

CUT = Outcome(verdict=Verdict.FAIL, reason="reset", delivered=True, resumable=True, new_tokens=7)
MOVED = Outcome(verdict=Verdict.INTERRUPTED, reason="drain", delivered=False)
BEGUN = Outcome(verdict=Verdict.INTERRUPTED, reason="drain", delivered=True)


@pytest.mark.parametrize("outcome", [CUT, MOVED, BEGUN])
def test_interruptions(outcome: Outcome) -> None:
    assert interrupts(outcome)


@pytest.mark.parametrize("outcome", [CANCELLED, Outcome(verdict=Verdict.OK), Outcome(verdict=Verdict.FAIL)])
def test_other_endings(outcome: Outcome) -> None:
    assert not interrupts(outcome)


def test_what_was_begun_goes_on_only_if_the_rest_can_be_asked_for() -> None:
    assert goes_on(CUT, 0)
    assert goes_on(MOVED, 0)
    assert not goes_on(BEGUN, 0)


def test_after_some_interruptions_a_request_is_left_alone() -> None:
    assert goes_on(CUT, MOST_INTERRUPTIONS - 1)
    assert not goes_on(CUT, MOST_INTERRUPTIONS)
    assert not may_interrupt(MOST_INTERRUPTIONS)
