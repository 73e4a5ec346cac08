"""A worker's side of the link: it tells what it books, hears what others book, and answers for itself.

Messages that come before the gateway is there wait for it, so that none is lost and their order stays.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from pointsman.admin.answers import failure
from pointsman.admin.routes import ROUTES, Call, Route
from pointsman.brain.model.sharing import PeerReport, Share
from pointsman.observe.tally import taken
from pointsman.serve import Service
from pointsman.workers.link import Link
from pointsman.workers.messages import (
    Answer,
    Configure,
    Count,
    Counted,
    Heard,
    Question,
    Ready,
    Recall,
    Recalled,
    Retire,
    Stop,
    Told,
    ToWorker,
    Welcome,
)

SHARE_S = 0.04
"""How often a worker looks whether it has something to tell. With the round's delay, others know within 0.1 s."""
LAST_WORDS_S = 1.0
LINKS_RECALLED = 1 << 18
"""Links of prompts that a new worker is told at once: 2 MiB, which decode in some hundredths of a second."""

_ROUTES = {(route.method, route.path): route for route in ROUTES}
_log = logging.getLogger("pointsman")


class Member:
    """`link` is to be connected; `welcome` is then the first message, or None. `serve` once there is a service."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.link = Link(ToWorker, self._receive, self._supervisor_gone)
        self.welcome: asyncio.Future[Welcome | None] = self._loop.create_future()
        self.heard = asyncio.Event()
        self._early: list[Any] = []
        self._service: Service | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = asyncio.Event()
        self._told_to_stop = False

    def serve(self, service: Service, changes: Sequence[Question]) -> None:
        """Let `service`, whose nodes have joined, be told and asked, beginning with what has come so far.

        `changes` are those made by the admin API before this worker was started.
        """
        self._service = service
        service.gateway.driver.tell = self._tell
        for question in changes:
            _answer(service, question)
        for message in self._early:
            self._obey(service, message)
        self._early.clear()
        self._timer = self._loop.call_later(SHARE_S, self._share, service)

    def ready(self) -> None:
        """The worker serves: tell the supervisor."""
        self.link.send(Ready())

    async def leave(self) -> None:
        """Nothing runs here any more: say what was counted, as the last word."""
        if self._timer is not None:
            self._timer.cancel()
        if self._service is not None:
            self.link.send(_counted(self._service, 0))
        self.link.close()
        await asyncio.wait([asyncio.ensure_future(self._closed.wait())], timeout=LAST_WORDS_S)

    def _receive(self, message: Any) -> None:
        if isinstance(message, Welcome):
            self.welcome.set_result(message)
        elif self._service is None:
            self._early.append(message)
        else:
            self._obey(self._service, message)

    def _obey(self, service: Service, message: Any) -> None:
        match message:
            case Heard():
                self._hear(service, message.report)
            case Question():
                self.link.send(_answer(service, message))
            case Recall():
                self.link.send(Recalled(message.id, service.gateway.dispatcher.placement.beliefs(LINKS_RECALLED)))
            case Count():
                self.link.send(_counted(service, message.id))
            case Retire():
                service.retire()
            case Stop():
                (service.stop_now if self._told_to_stop else service.stop)()
                self._told_to_stop = True
            case Configure():
                service.configure(message.config)

    def _hear(self, service: Service, report: PeerReport) -> None:
        driver = service.gateway.driver
        driver.call(lambda now: driver.dispatcher.hear(report, now))
        self.heard.set()

    def _share(self, service: Service) -> None:
        driver = service.gateway.driver
        driver.call(driver.dispatcher.share)
        self._timer = self._loop.call_later(SHARE_S, self._share, service)

    def _tell(self, share: Share) -> None:
        self.link.send(Told(share))

    def _supervisor_gone(self) -> None:
        """Without a supervisor nobody restarts a worker, or tells it of the others: it ends with what it has."""
        self._closed.set()
        if not self.welcome.done():
            self.welcome.set_result(None)
        self.heard.set()
        if self._service is not None:
            self._service.stop()


def _answer(service: Service, question: Question) -> Answer:
    route = _ROUTES[question.method, question.path]
    try:
        value = route.handler(service.services, _call(route, question))
    except Exception as error:
        failed = failure(error)
        if failed is None:
            _log.exception("%s %s failed", question.method, question.path)
            return Answer(question.id, status=500, code="internal_error", text="internal error")
        return Answer(question.id, status=failed.status, code=failed.code, text=str(failed))
    return Answer(question.id, msgspec.msgpack.encode(value))


def _call(route: Route, question: Question) -> Call:
    query = msgspec.msgpack.decode(question.query, type=route.query) if route.query else None
    body = msgspec.msgpack.decode(question.body, type=route.body) if route.body else None
    return Call(question.which, query, body)


def _counted(service: Service, id: int) -> Counted:
    return Counted(id, taken(service.metrics), service.services.reading())
