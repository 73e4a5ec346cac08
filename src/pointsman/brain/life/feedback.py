"""Clients' own word on answers: whom a request was served by, and how often a tenant may complain.

Strategy: an answer that came whole and in time may still be garbage, and only its client can tell. Its complaint is
believed like a failure that was seen here, once a request and for some minutes. So that nobody can talk nodes out of
the fleet, complaints go through a bucket for each tenant (GCRA: all that is kept is when the bucket is full again).
Requests end far more often than anybody says a word on them. So they are written down in a ring, and entered in the
table where they are looked up only when somebody asks for one.
"""

from collections import OrderedDict

from pointsman.brain.model.errors import Conflict, NotFound, TooManyRequests
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.served import Served

REMEMBERED = 4096
"""Requests that may still be reported on: at 100 a second, those of the last 40 s."""
REMEMBERED_SECONDS = 600.0
"""A complaint that comes later says little about how the node is now."""
BURST = 10
SPACING_SECONDS = 5.0
"""Complaints of one tenant that count: so many at once, and one more in this time."""
TENANTS = 4096
"""Buckets kept before those that are full are dropped."""

_UNKNOWN = Served("", "", 0, 0, False, float("-inf"))


class FeedbackDesk:
    """Remembers the last requests that ended, by tenant and id."""

    def __init__(self) -> None:
        self._ring: list[Served] = [_UNKNOWN] * REMEMBERED
        self._ended = 0
        self._entered = 0
        self._served: OrderedDict[tuple[str, str], Served | None] = OrderedDict()
        self._full_at: dict[str, float] = {}

    def remember(self, served: Served) -> None:
        """A request ended. Of several with one id the last is meant."""
        self._ring[self._ended % REMEMBERED] = served
        self._ended += 1

    def take(self, report: ClientReport, now: float) -> Served:
        """Accept a report: whom it is about. Raises NotFound, Conflict or TooManyRequests, and then changes nothing."""
        served = self._find(report, now)
        if not report.good:
            self.pay(report.tenant, now)
        self._served[report.tenant, report.request] = None
        return served

    def take_paid(self, report: ClientReport, now: float) -> Served | None:
        """Accept a report that was paid for elsewhere; None if it is not for this desk."""
        try:
            served = self._find(report, now)
        except (NotFound, Conflict):
            return None
        self._served[report.tenant, report.request] = None
        return served

    def pay(self, tenant: str, now: float) -> None:
        """Take one complaint out of the tenant's bucket. Raises TooManyRequests if it is empty."""
        full_at = max(now, self._full_at.get(tenant, now))
        wait = full_at - now - (BURST - 1) * SPACING_SECONDS
        if wait > 0.0:
            raise TooManyRequests(f"feedback counts once in {SPACING_SECONDS:g} s; try again later", retry_after_s=wait)
        if len(self._full_at) >= TENANTS:
            self._full_at = {name: due for name, due in self._full_at.items() if due > now}
        self._full_at[tenant] = full_at + SPACING_SECONDS

    def _enter(self) -> None:
        """Look through what has ended since the last time."""
        remembered = self._served
        for number in range(max(self._entered, self._ended - REMEMBERED), self._ended):
            served = self._ring[number % REMEMBERED]
            key = served.tenant, served.request
            remembered[key] = served
            remembered.move_to_end(key)
            if len(remembered) > REMEMBERED:
                remembered.popitem(last=False)
        self._entered = self._ended

    def _find(self, report: ClientReport, now: float) -> Served:
        self._enter()
        served = self._served.get((report.tenant, report.request), _UNKNOWN)
        if served is None:
            raise Conflict("there was feedback on this request already", param="request_id")
        if now - served.ended > REMEMBERED_SECONDS:
            raise NotFound("no request of this id has ended of late", param="request_id")
        return served
