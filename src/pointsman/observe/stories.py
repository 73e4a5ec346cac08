"""What became of each of the last requests, from its arrival to its end.

Strategy: a fact becomes its time and what makes its chapter, kept under its ticket; requests
themselves are let go. Decisions are kept by `Decisions`, and join the story when somebody reads it. The oldest story
makes room for a new one.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

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
from pointsman.brain.model.outcome import Outcome
from pointsman.brain.model.request import Request
from pointsman.observe.chapters import (
    AnyChapter,
    Began,
    Broken,
    Chosen,
    Finished,
    Held,
    Sent,
    Story,
    TurnedAway,
    Waited,
    WentOn,
)
from pointsman.observe.decisions import KEPT, Decision, Decisions
from pointsman.observe.standing import Standing
from pointsman.observe.subscriber import Subscriber

FORWARD = "forward"
"""The reason of a choice that goes to where the cache is, against the best score."""
WAITING, RUNNING, ENDED, REFUSED = "waiting", "running", "ended", "refused"

Moment = tuple[float, Callable[..., AnyChapter], tuple[Any, ...]]
"""When, and what makes the chapter out of its seconds since the arrival and all else."""


class _Kept(msgspec.Struct, gc=False):
    """A story as it is written. `arrived` is seconds on the dispatcher's clock."""

    ticket: int
    request_id: str
    model: str
    tenant: str
    priority: float
    arrived: float
    state: str
    moments: list[Moment]


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
        self._kept = kept
        self._epoch = epoch
        self._stories: OrderedDict[int, _Kept] = OrderedDict()
        self._running: dict[int, _Kept] = {}
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
        standing = Standing.of(self._fleet)
        told = (kept.model, standing, fact.position, self._order(), fact.expected_s)
        kept.moments.append((fact.now, self._waited, told))

    def _placed(self, fact: Placed) -> None:
        kept = self._story(fact.ticket, fact.request, fact.now - fact.waited_s)
        kept.state = RUNNING
        self._running[fact.lease] = kept
        told = (fact.node, fact.attempt, fact.prompt_tokens, fact.overlap_tokens, fact.reason == FORWARD)
        kept.moments.append((fact.now, Sent, told))

    def _first_token(self, fact: FirstToken) -> None:
        kept = self._running.get(fact.lease)
        if kept is not None:
            kept.moments.append((fact.now, Began, (fact.node, fact.ttft_s)))

    def _resumed(self, fact: Resumed) -> None:
        kept = self._running.get(fact.lease)
        if kept is not None:
            kept.moments.append((fact.now, WentOn, (fact.node, fact.tokens, fact.gap_s)))

    def _interrupted(self, fact: Interrupted) -> None:
        kept = self._stories.get(fact.ticket)
        if kept is not None:
            kept.moments.append((fact.now, Broken, (fact.node, fact.cause, fact.tokens, fact.resumed)))

    def _ended(self, fact: Ended) -> None:
        kept = self._running.pop(fact.lease, None)
        if kept is not None:
            kept.state = ENDED if fact.final else WAITING
            told = (fact.node, fact.outcome, fact.seconds, fact.tpot_s, fact.final)
            kept.moments.append((fact.now, _finished, told))

    def _refused(self, fact: Refused) -> None:
        kept = self._story(fact.ticket, fact.request, fact.now)
        kept.state = REFUSED
        kept.moments.append((fact.now, TurnedAway, (fact.code, fact.status)))

    def _story(self, ticket: int, request: Request, arrived: float) -> _Kept:
        """The ticket's story; a new one where this is the first that is heard of it."""
        kept = self._stories.get(ticket)
        if kept is None:
            if len(self._stories) >= self._kept:
                self._stories.popitem(last=False)
            kept = self._stories[ticket] = _Kept(
                ticket, request.id, request.model, request.tenant, request.priority, arrived, WAITING, []
            )
        return kept

    def _waited(self, after_s: float, model: str, standing: Standing | None, *told: Any) -> Waited:
        left_out = standing.passed_over(self._fleet, model, (), ()) if standing is not None else []
        position, order, expected_s = told
        return Waited(after_s, position, order, expected_s, left_out)

    def _tell(self, kept: _Kept) -> Story:
        failed = {told[0] for _, make, told in kept.moments if make is _finished and not told[-1]}
        decided = self._decisions.timed(kept.request_id, failed)
        mine = [(now, decision) for now, decision in decided if decision.ticket == kept.ticket]
        return Story(
            kept.request_id, kept.ticket, kept.model, kept.tenant, kept.priority, self._epoch + kept.arrived,
            kept.state, list(_chapters(kept, mine)),
        )  # fmt: skip


def _chapters(kept: _Kept, decided: list[tuple[float, Decision]]) -> Iterator[AnyChapter]:
    """In order of time. At one moment a try ends, then another node is chosen, then the request goes there or waits."""
    for now, make, told in kept.moments:
        ends = make is _finished or make is Broken
        while decided and _comes_first(decided[0], now, ends=ends, sent=make is Sent):
            decision = decided.pop(0)
            yield _decided(kept, *decision)
            if decision[1].node is not None:
                break  # each choice is followed by its own sending
        yield make(now - kept.arrived, *told)
    yield from (_decided(kept, *each) for each in decided)


def _comes_first(decided: tuple[float, Decision], now: float, *, ends: bool, sent: bool) -> bool:
    """Whether what was decided led to what happened `now`: the end of a try, or that it was sent, or all else."""
    at, decision = decided
    return at < now or (at == now and not ends and (sent or decision.node is None))


def _decided(kept: _Kept, now: float, decision: Decision) -> Held | Chosen:
    kind = Held if decision.node is None else Chosen
    return kind(after_s=now - kept.arrived, decision=decision)


def _finished(
    after_s: float, node: str, outcome: Outcome, seconds: float, tpot_s: float | None, final: bool
) -> Finished:
    return Finished(
        after_s,
        node,
        str(outcome.verdict),
        outcome.reason,
        outcome.status,
        seconds,
        outcome.prompt_tokens,
        outcome.completion_tokens,
        outcome.cached_tokens,
        tpot_s,
        final,
    )
