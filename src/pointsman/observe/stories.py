"""What became of each of the last requests, from its arrival to its end.

Strategy: a fact becomes a moment, kept under its ticket; requests themselves are let go. Decisions are kept by
`Decisions`, and join the story when somebody reads it. The oldest story makes room for a new one.
"""

from collections.abc import Callable, Iterator
from typing import Any

from mypy_extensions import mypyc_attr

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.facts import (
    Ended,
    FirstToken,
    Interrupted,
    Placed,
    Queued,
    Refused,
    Resumed,
)
from pointsman.brain.model.request import Request
from pointsman.observe.chapters import AnyChapter, Chosen, Held, Story
from pointsman.observe.decision import Decision
from pointsman.observe.decisions import KEPT, Decisions
from pointsman.observe.moments import Beginning, Breaking, Ending, GoingOn, Moment, Sending, Turning, Waiting
from pointsman.observe.standing import Standing
from pointsman.observe.subscriber import Subscriber

WAITING, RUNNING, ENDED, REFUSED = "waiting", "running", "ended", "refused"


@mypyc_attr(acyclic=True)
class _Kept:
    """A story as it is written: its moments hang on the `last`. `arrived` is seconds on the dispatcher's clock."""

    __slots__ = ("arrived", "last", "model", "priority", "request_id", "state", "tenant", "ticket")

    def __init__(self, ticket: int, request: Request, arrived: float) -> None:
        self.ticket = ticket
        self.request_id = request.id
        self.model = request.model
        self.tenant = request.tenant
        self.priority = request.priority
        self.arrived = arrived
        self.state = WAITING
        self.last: Moment | None = None

    def moments(self) -> list[Moment]:
        """In order of time."""
        found: list[Moment] = []
        moment = self.last
        while moment is not None:
            found.append(moment)
            moment = moment.before
        return found[::-1]


class Stories(Subscriber):
    """A subscriber to facts that remembers the last `kept` requests. `decisions` remembers theirs.

    `order` tells by which order those who wait are served now.
    """

    def __init__(
        self, fleet: Fleet, decisions: Decisions, order: Callable[[], str], *, kept: int = KEPT, epoch: float = 0.0
    ) -> None:
        self._fleet = fleet
        self._decisions = decisions
        self._order = order
        self._epoch = epoch
        self._stories: dict[int, _Kept] = {}
        self._tickets = [0] * kept  # in a ring: that of the oldest story is the next to be written over
        self._next = 0
        self.handlers = {
            Queued: self._queued,
            Placed: self._placed,
            FirstToken: self._first_token,
            Ended: self._ended,
            Interrupted: self._interrupted,
            Resumed: self._resumed,
            Refused: self._refused,
        }

    def of(self, request_id: str) -> list[Story]:
        """What is remembered of requests with that id, oldest first: clients choose ids, so there may be several."""
        found = [kept for kept in self._stories.values() if kept.request_id == request_id]
        return [self._tell(kept) for kept in found]

    def _queued(self, fact: Queued) -> None:
        kept = self._story(fact.ticket, fact.request, fact.now)
        kept.state = WAITING
        kept.last = Waiting(fact, kept.last, self._order(), Standing.of(self._fleet))

    def _placed(self, fact: Placed) -> None:
        kept = self._story(fact.ticket, fact.request, fact.now - fact.waited_s)
        kept.state = RUNNING
        kept.last = Sending(fact, kept.last)

    def _first_token(self, fact: FirstToken) -> None:
        kept = self._stories.get(fact.ticket)
        if kept is not None:
            kept.last = Beginning(fact, kept.last)

    def _resumed(self, fact: Resumed) -> None:
        kept = self._stories.get(fact.ticket)
        if kept is not None:
            kept.last = GoingOn(fact, kept.last)

    def _interrupted(self, fact: Interrupted) -> None:
        kept = self._stories.get(fact.ticket)
        if kept is not None:
            kept.last = Breaking(fact, kept.last)

    def _ended(self, fact: Ended) -> None:
        kept = self._stories.get(fact.ticket)
        if kept is not None:
            kept.state = ENDED if fact.final else WAITING
            kept.last = Ending(fact, kept.last)

    def _refused(self, fact: Refused) -> None:
        kept = self._story(fact.ticket, fact.request, fact.now)
        kept.state = REFUSED
        kept.last = Turning(fact, kept.last)

    def _story(self, ticket: int, request: Request, arrived: float) -> _Kept:
        """The ticket's story; a new one where this is the first that is heard of it."""
        kept = self._stories.get(ticket)
        if kept is None:
            oldest = self._tickets[self._next]
            if oldest in self._stories:
                del self._stories[oldest]
            self._tickets[self._next] = ticket
            self._next = (self._next + 1) % len(self._tickets)
            kept = self._stories[ticket] = _Kept(ticket, request, arrived)
        return kept

    def _tell(self, kept: _Kept) -> Story:
        moments = kept.moments()
        failed = {moment.node for moment in moments if isinstance(moment, Ending) and not moment.final}
        decided = self._decisions.timed(kept.request_id, failed)
        mine = [(now, decision) for now, decision in decided if decision.ticket == kept.ticket]
        return Story(
            kept.request_id, kept.ticket, kept.model, kept.tenant, kept.priority, self._epoch + kept.arrived,
            kept.state, list(self._chapters(kept, moments, mine)),
        )  # fmt: skip

    def _chapters(
        self, kept: _Kept, moments: list[Moment], decided: list[tuple[float, Decision]]
    ) -> Iterator[AnyChapter]:
        """In order of time. At one moment a try ends, then another node is chosen, then it goes there or waits."""
        for moment in moments:
            while decided and _comes_first(decided[0], moment):
                decision = decided.pop(0)
                yield _decided(kept, *decision)
                if decision[1].node is not None:
                    break  # each choice is followed by its own sending
            yield moment.chapter(kept.arrived, self._fleet, kept.model)
        yield from (_decided(kept, *each) for each in decided)


def _comes_first(decided: tuple[float, Decision], moment: Moment) -> bool:
    """Whether what was decided led to `moment`: the end of a try, or that it was sent, or all else."""
    at, decision = decided
    if at != moment.now:
        return at < moment.now
    ends, sent = isinstance(moment, (Ending, Breaking)), isinstance(moment, Sending)
    return not ends and (sent or decision.node is None)


def _decided(kept: _Kept, now: float, decision: Decision) -> Held | Chosen:
    kind: Any = Held if decision.node is None else Chosen
    told: Held | Chosen = kind(after_s=now - kept.arrived, decision=decision)
    return told
