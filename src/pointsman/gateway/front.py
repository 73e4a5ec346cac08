"""The data port's face: answers what it can itself, relays what is for a node, refuses the rest."""

from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec

from pointsman.brain.model.errors import MethodNotAllowed, ModelNotFound, NoNode, NotFound, PointsmanError, Stopping
from pointsman.gateway.access import Access
from pointsman.gateway.driver import Brain
from pointsman.gateway.exchange import Exchange, Relaying
from pointsman.gateway.feedback import PATH as FEEDBACK
from pointsman.gateway.feedback import answer_to, read_feedback
from pointsman.gateway.intake import Intake
from pointsman.gateway.reply import Reply
from pointsman.gateway.routes import Route
from pointsman.gateway.server import ClientConnection
from pointsman.gateway.work import Work
from pointsman.wire.http1.heads import own_lines
from pointsman.wire.http1.messages import RequestHead

_JSON = b"application/json"
_MODELS = b"/v1/models"
_HEALTH: Final = b"/health"
_OWN = (_HEALTH, _MODELS, b"*")
_NOT_HERE = ": requests go to paths such as /v1/chat/completions, the admin port tells of metrics and nodes"
_READING = (b"GET", b"HEAD")
_WRITING = (b"POST",)
_CORS = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, HEAD, POST, OPTIONS"),
    (b"access-control-allow-headers", b"*, authorization"),
    (b"access-control-max-age", b"86400"),
)


class Front:
    """Implements the server's `Front`."""

    def __init__(
        self,
        dispatcher: Brain,
        routes: dict[bytes, Route],
        access: Access,
        intake: Intake,
        relaying: Relaying,
        started_at: int,
    ) -> None:
        self._dispatcher = dispatcher
        self._routes = routes
        self._access = access
        self._intake = intake
        self._relaying = relaying
        self._started_at = started_at
        self.lame = False

    def objection(self, head: RequestHead) -> PointsmanError | None:
        """The refusal a head earns by its path, method or key; None for a good one."""
        path = head.path
        methods = self._methods(path)
        if not methods:
            return NotFound(f"{_shown(path)} is not served here{_NOT_HERE}")
        if head.method == b"OPTIONS":
            return None
        if head.method not in methods:
            allowed = [method.decode() for method in (*methods, b"OPTIONS")]
            what = f"{_shown(head.method)} is not allowed on {_shown(path)}; allowed are: {', '.join(allowed)}"
            return MethodNotAllowed(what, allowed=allowed)
        try:
            if path != _HEALTH:
                self._access.tenant(head.fields)
        except PointsmanError as error:
            return error
        return None

    def request_id(self, head: RequestHead) -> bytes:
        """The client's own id if it is well-formed, else a new one."""
        return self._intake.request_id(head.fields)

    def serve(self, head: RequestHead, body: bytes, reply: Reply, connection: ClientConnection) -> Exchange | None:
        """Answer a request whose head found no objection. Raises PointsmanError."""
        if head.method == b"OPTIONS":
            reply.send(own_lines(204, b"", b"", _CORS), b"", bodiless=True)
            return None
        path = head.path
        route = self._routes.get(path)
        if route is None:
            if path == FEEDBACK:
                self._feedback(head, body, reply)
            else:
                self._answer(path, self._intake.request_id(head.fields), reply)
            return None
        work = self._intake.work(route, head, body, self._access.tenant(head.fields))
        return self._relaying.begin(work, reply, connection)

    def work_of(self, path: bytes, data: bytes) -> Work:
        """What would be made of a client's request that asks `data` of `path`. Raises PointsmanError."""
        route = self._routes.get(path)
        if route is None:
            raise NotFound(f"{_shown(path)} is not served here{_NOT_HERE}")
        head = RequestHead(
            method=b"POST", target=path, path=path, fields={}, onward=b"", keep_alive=True, modern=True,
            expects_continue=False,
        )  # fmt: skip
        return self._intake.work(route, head, data, "")

    def _methods(self, path: bytes) -> tuple[bytes, ...]:
        """The methods a path takes, none for a path that is not served."""
        if path in self._routes or path == FEEDBACK:
            return _WRITING
        return _READING if path in _OWN or path.startswith(_MODELS + b"/") else ()

    def _feedback(self, head: RequestHead, body: bytes, reply: Reply) -> None:
        report = read_feedback(body, self._access.tenant(head.fields))
        self._relaying.driver.call(lambda now: self._dispatcher.feedback(report, now))
        reply.send(own_lines(200, _JSON, self._intake.request_id(head.fields)), answer_to(report))

    def _answer(self, path: bytes, request_id: bytes, reply: Reply) -> None:
        if path == _HEALTH:
            self._health(reply)
            return
        names = self._intake.models()
        if path == _MODELS:
            document: object = {"object": "list", "data": [self._model(name) for name in names]}
        else:
            name = unquote_to_bytes(path.removeprefix(_MODELS + b"/")).decode(errors="replace")
            if name not in names:
                raise ModelNotFound(name, names)
            document = self._model(name)
        reply.send(own_lines(200, _JSON, request_id), msgspec.json.encode(document))

    def _health(self, reply: Reply) -> None:
        if self.lame:
            raise Stopping("this gateway is stopping")
        if not self._dispatcher.available():
            raise NoNode(f"no node can take a request now (nodes: {self._dispatcher.standing()})")
        reply.send(own_lines(200, _JSON, b""), b'{"status":"ok"}')

    def _model(self, name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": self._started_at, "owned_by": "pointsman"}


def _shown(text: bytes) -> str:
    return text.decode("ascii", errors="replace")[:200]
