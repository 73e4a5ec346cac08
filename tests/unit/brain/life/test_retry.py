"""The retry budget."""

import pytest

from pointsman.brain.life.retry import RetryBudget
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.settings import BrainSettings

FAILED = Outcome(verdict=Verdict.FAIL, reason="reset", delivered=False)


def budget(**more: object) -> RetryBudget:
    return RetryBudget(BrainSettings(tries=2, retry_share=0.1, retry_floor=3, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(verdict=Verdict.OK, delivered=False),
        Outcome(verdict=Verdict.CANCELLED, delivered=False),
        Outcome(verdict=Verdict.FAIL, delivered=True),
    ],
)
def test_only_undelivered_failures_are_repeated(outcome: Outcome) -> None:
    assert not budget().allows(outcome, 1, 100)
    assert budget().allows(FAILED, 1, 100)


def test_tries_are_counted() -> None:
    assert not budget().allows(FAILED, 2, 100)


def test_retries_stay_under_their_share_of_active_requests_but_the_free_ones() -> None:
    spent = budget()
    for _ in range(5):
        spent.taken()
    assert not spent.allows(FAILED, 1, 50)
    assert spent.allows(FAILED, 1, 51)
    free = Outcome(verdict=Verdict.FAIL, reason="connect", delivered=False, free=True)
    assert spent.allows(free, 1, 50)
    for _ in range(5):
        spent.done()
    assert spent.allows(FAILED, 1, 0)


def test_it_goes_by_the_settings_it_has_now() -> None:
    retries = budget()
    retries.configure(BrainSettings(tries=3))
    assert retries.allows(FAILED, 2, 100)
