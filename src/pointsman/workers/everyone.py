"""The admin API of several workers: questions go to all, and one answer comes back.

What concerns one worker alone, such as memory that it holds for others, is asked of them in turn until one knows;
what each does for its own requests is asked of all that serve.

A change is first made by one worker; if that refuses it, nobody else hears of it. Then it is noted for workers that
start later, and made by all others. One that cannot follow although the first could has fallen out of step: it is
replaced by a worker that makes all changes anew.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from pointsman.admin.answers import Failed
from pointsman.admin.routes import Call, NotReady, Route
from pointsman.observe.exposition import page, registry
from pointsman.observe.metrics import Metrics
from pointsman.observe.processes import Processes
from pointsman.observe.tally import add, taken
from pointsman.workers.merging import merged, reading
from pointsman.workers.messages import Answer, Question
from pointsman.workers.process import NoAnswer, Worker
from pointsman.workers.team import Team

_log = logging.getLogger("pointsman")


class Everyone:
    """Answers for the whole team."""

    def __init__(self, team: Team, keep: Callable[[Awaitable[Any]], Any]) -> None:
        """`keep` runs what need not be waited for."""
        self._team = team
        self._keep = keep
        self._changing = asyncio.Lock()

    async def answer(self, route: Route, call: Call) -> Any:
        """Raises Failed, NotReady."""
        question = _question(route, call)
        if route.method == "GET" or route.whom == "each":
            answers = await self._asked(self._team.serving, question)
        elif route.whom == "one":
            answers = [await self._one(question)]
        else:
            async with self._changing:
                answers = await self._change(question, call)
        good = [answer for answer in answers if answer.status == 200]
        if not answers:
            raise NotReady("no worker answers")
        if not good:
            raise Failed(answers[0].text, answers[0].status, answers[0].code)
        values = [msgspec.msgpack.decode(answer.value, type=route.answer or Any) for answer in good]
        return merged(route, call, values, self._team.hub.booked)

    async def metrics_page(self) -> bytes:
        """What all have counted, those that are gone included, and the fleet as all see it."""
        await asyncio.gather(*[worker.count() for worker in self._team.workers.values()])
        # One that has ended meanwhile is among those that are gone: from here on nothing is waited for.
        counted = [worker.last for worker in self._team.workers.values() if worker.last is not None]
        fleet = reading([each.reading for each in counted], self._team.hub.booked)
        total = Metrics()
        add(total, taken(self._team.counted), nodes=set(fleet.nodes))
        total.configured_at = 0.0  # theirs is of no consequence any more
        for each in counted:
            add(total, each.tally)
        pids = [worker.pid for worker in self._team.workers.values()]
        return page(registry(total, lambda: fleet, Processes(pids, self._team.restarts)))

    async def _asked(self, workers: Sequence[Worker], question: Question) -> list[Answer]:
        """The answers of those who answer."""
        answers = await asyncio.gather(*[worker.ask(question) for worker in workers], return_exceptions=True)
        return [answer for answer in answers if isinstance(answer, Answer)]

    async def _change(self, question: Question, call: Call) -> list[Answer]:
        first, answer = await self._first(question)
        if answer.status != 200:
            return [answer]
        self._team.changes.note(question, call)
        others = [worker for worker in self._team.workers.values() if worker is not first]
        follows = [asyncio.ensure_future(self._follow(worker, question)) for worker in others]
        served = [follow for worker, follow in zip(others, follows, strict=True) if worker.serves]
        for follow in follows:
            self._keep(follow)
        return [answer, *[each for each in await asyncio.gather(*served) if each is not None]]

    async def _one(self, question: Question) -> Answer:
        """The answer of the first worker that knows what is asked about. Raises NotReady if none answers."""
        unknown = None
        for worker in self._team.serving:
            try:
                answer = await worker.ask(question)
            except NoAnswer:
                continue
            if answer.status != 404:
                return answer
            unknown = unknown or answer
        if unknown is None:
            raise NotReady("no worker answers")
        return unknown

    async def _first(self, question: Question) -> tuple[Worker, Answer]:
        """The first worker that answers. Raises NotReady if there is none."""
        for worker in self._team.serving:
            try:
                return worker, await worker.ask(question)
            except NoAnswer:
                continue
        raise NotReady("no worker answers")

    async def _follow(self, worker: Worker, question: Question) -> Answer | None:
        """Make the change there too."""
        try:
            answer = await worker.ask(question)
        except NoAnswer:
            return None
        if answer.status == 200:
            return answer
        if question.method == "DELETE" and answer.status == 404:
            return None  # there it had nothing left to finish, and is gone already
        _log.error("worker %d is out of step (%s) and will be replaced", worker.number, answer.text)
        self._keep(self._team.renew(worker))
        return None


def _question(route: Route, call: Call) -> Question:
    """Raises Failed."""
    try:
        query, body = (b"" if each is None else msgspec.msgpack.encode(each) for each in (call.query, call.body))
    except OverflowError:
        raise Failed("no number may have more than 64 bits", 400, "invalid_request") from None
    return Question(0, route.method, route.path, call.id, query, body)
