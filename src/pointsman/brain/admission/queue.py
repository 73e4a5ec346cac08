"""One waiting queue, in the order it is given, with a bound on overtaking.

Strategy: tickets wait in a dictionary in order of arrival, and in the order's sorted lanes. A policy that binds late
may take any of the first `window` tickets of the lanes that are offered; each older ticket it passes, or the order
does, counts the overtake, and one overtaken too often is due: the only one offered (of its lane, where the order says
that overtakes count by lane) until it is placed, so that what it needs comes free for nobody else.
"""

from bisect import bisect_left, insort

from pointsman.brain.admission.order import Lane, Order, Place, Waiter


class Queue:
    """Waiting tickets. Mutated by the dispatcher only.

    A ticket is due once `overtake_limit` later ones went first, or ones that came to more than `overtake_service`
    times its own predicted service (0: no such bound).
    """

    def __init__(self, order: Order, overtake_limit: int, overtake_service: float = 0.0) -> None:
        self._order = order
        self._overtake_limit = overtake_limit
        self._overtake_service = overtake_service
        self._waiters: dict[int, Waiter] = {}
        self._lanes: dict[Lane, list[Place]] = {}
        self._due: dict[Lane, dict[int, None]] = {}
        self._joined = 0

    def __len__(self) -> int:
        return len(self._waiters)

    def __bool__(self) -> bool:
        return bool(self._waiters)

    @property
    def oldest(self) -> int:
        """The ticket that has waited longest. The queue must not be empty."""
        return next(iter(self._waiters))

    @property
    def head(self) -> int:
        """The ticket that goes next. The queue must not be empty."""
        return self.window(1)[0]

    def tickets(self) -> list[int]:
        """All that wait, the oldest first."""
        return list(self._waiters)

    def join(self, waiter: Waiter) -> int:
        """Wait from now on; the position (1 = next), an estimate where it depends on what comes."""
        self._joined += 1
        self._order.joined(waiter)
        waiter.lane = lane = self._order.lane(waiter)
        waiter.place = (self._order.key(waiter), self._joined, waiter.ticket)
        self._waiters[waiter.ticket] = waiter
        insort(self._lanes.setdefault(lane, []), waiter.place)
        self._mark_due(waiter)
        return self.position(waiter.ticket)

    def position(self, ticket: int) -> int:
        """Where the ticket stands now: 1 = next."""
        waiter = self._waiters[ticket]
        rank = bisect_left(self._lanes[waiter.lane], waiter.place)
        return rank + 1 + self._order.ahead(waiter.lane, rank, self._lanes)

    def first(self, most: int) -> list[tuple[int, int]]:
        """Position and ticket of at most `most`, those who go first by the order as it is now."""
        found = [
            (rank + 1 + self._order.ahead(lane, rank, self._lanes), place[2])
            for lane, places in self._lanes.items()
            for rank, place in enumerate(places[:most])
        ]
        return sorted(found)[:most]

    def leave(self, ticket: int) -> bool:
        """Leave without being placed; false if the ticket was not here."""
        waiter = self._waiters.get(ticket)
        if waiter is not None:
            self._remove(waiter)
        return waiter is not None

    def window(self, size: int) -> list[int]:
        """The tickets that may be taken now, at most `size`, the next one first. The queue must not be empty."""
        if not self._order.by_lane and self._due:
            return list(self._due[""])[:1]
        window: list[int] = []
        for lane in self._order.offered(self._lanes):
            due = self._due.get(lane)
            window += list(due)[:1] if due else [place[2] for place in self._lanes[lane][: size - len(window)]]
            if len(window) >= size:
                break
        return window

    def take(self, ticket: int) -> None:
        """The ticket is placed: everyone older has been overtaken once more."""
        taken = self._waiters[ticket]
        for older in self._waiters.values():
            if older is taken:
                break
            if older.lane == taken.lane or not self._order.by_lane:
                older.overtaken += 1
                older.overtaken_service += taken.service
                self._mark_due(older)
        self._order.taken(taken.lane, self._lanes)
        self._remove(taken)

    def gives_way(self, newcomer: Waiter) -> int | None:
        """Who leaves a full queue to `newcomer` by the order; None if the newcomer is refused."""
        if not self._lanes:
            return None
        lane = self._order.gives_way(self._order.lane(newcomer), self._lanes)
        return None if lane is None else self._lanes[lane][-1][2]

    def _mark_due(self, waiter: Waiter) -> None:
        limit = self._overtake_service
        if waiter.overtaken >= self._overtake_limit or (limit and waiter.overtaken_service > limit * waiter.service):
            self._due.setdefault(self._scope(waiter), {})[waiter.ticket] = None

    def _scope(self, waiter: Waiter) -> Lane:
        return waiter.lane if self._order.by_lane else ""

    def _remove(self, waiter: Waiter) -> None:
        del self._waiters[waiter.ticket]
        lane = self._lanes[waiter.lane]
        del lane[bisect_left(lane, waiter.place)]
        if not lane:
            del self._lanes[waiter.lane]
        due = self._due.get(self._scope(waiter))
        if due is not None:
            due.pop(waiter.ticket, None)
            if not due:
                del self._due[self._scope(waiter)]
        self._order.left(waiter)
