"""Which failed tries may be repeated: a budget against retry storms.

At most `tries` nodes see one request. A try that cost its node nothing is repeated freely; any other retry must fit
under a share of the active requests, so that a failing fleet is not asked for more and more.
"""

from math import ceil

from pointsman.brain.model.outcome import FAILURES, Outcome
from pointsman.brain.model.settings import BrainSettings


class RetryBudget:
    """Counts the retries in flight, free ones apart. `taken` and `done` come in pairs."""

    def __init__(self, settings: BrainSettings) -> None:
        self._settings = settings
        self.in_flight = 0

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings

    def allows(self, outcome: Outcome, attempts: int, active: int) -> bool:
        """Whether a request that ended with `outcome` after `attempts` tries goes to another node."""
        if outcome.verdict not in FAILURES or outcome.delivered:
            return False
        if attempts >= self._settings.tries:
            return False
        return outcome.free or self.room(active) > 0

    def room(self, active: int) -> int:
        """How many more retries that are not free may begin beside so many `active` requests."""
        limit = max(self._settings.retry_floor, self._settings.retry_share * active)
        return max(0, ceil(limit - self.in_flight))

    def taken(self) -> None:
        """A retry that is not free begins."""
        self.in_flight += 1

    def done(self) -> None:
        """The request of such a retry is over."""
        self.in_flight -= 1
