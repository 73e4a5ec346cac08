"""The admin port's HTTP: routes of the table to handlers, values to JSON, exceptions to errors.

A body must say that it is JSON. That is not pedantry: a page in an operator's browser may send a form to a loopback
port unasked, but not JSON, so no page can change a node or a policy. Nor can one that has its own name resolve to this
port: see `hosts.py`.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Middleware

from pointsman.admin import openapi, page
from pointsman.admin.answers import Answers, failure
from pointsman.admin.hosts import Hosts
from pointsman.admin.queue_page import queue_page
from pointsman.admin.routes import QUEUES, ROUTES, Call, Route
from pointsman.admin.values import Error, ErrorBody, QueueQuery
from pointsman.observe.exposition import CONTENT_TYPE

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class NotJson(Exception):
    """A body that does not say that it is JSON."""


def application(answers: Answers, hosts: Hosts) -> web.Application:
    """The admin application over `answers`, which goes by the names of `hosts`. Start it with aiohttp's `AppRunner`."""
    app = web.Application(middlewares=[_meant_for(hosts), _errors])
    app.router.add_get("/", _text(page.index(), "text/html"))
    app.router.add_get("/openapi.json", _text(msgspec.json.encode(openapi.document()).decode(), "application/json"))
    app.router.add_get("/metrics", _metrics(answers))
    app.router.add_get("/queue.html", _queue_page(answers))
    for route in ROUTES:
        app.router.add_route(route.method, route.path.replace("{id}", "{id:.+}"), _serve(route, answers))
    return app


def _serve(route: Route, answers: Answers) -> Answer:
    async def answer(request: web.Request) -> web.Response:
        value = await answers.answer(route, await _call(route, request))
        if route.answer is None:
            return web.Response(status=route.status)
        return _json(value, route.status)

    return answer


async def _call(route: Route, request: web.Request) -> Call:
    """The request as the route declares it. Raises NotJson, msgspec.DecodeError, ValueError."""
    which = request.match_info.get("id", "")
    query = body = None
    if route.query is not None:
        with _naming_fields("a query", route.query):
            query = msgspec.convert(dict(request.query), route.query, strict=False)
    if route.body is not None:
        if request.content_type != "application/json":
            raise NotJson
        text = await request.read()
        with _naming_fields("a body", route.body):
            body = msgspec.json.decode(text, type=route.body)
    return Call(which, query, body)


@contextmanager
def _naming_fields(what: str, kind: type[msgspec.Struct]) -> Iterator[None]:
    """Tell which fields there are to whoever names another one, or leaves one out."""
    try:
        yield
    except msgspec.ValidationError as error:
        if "field `" not in str(error):  # it is a value that is wrong, no name
            raise
        fields = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
        raise ValueError(f"{error}; {what} may have: {fields}") from None


def _meant_for(hosts: Hosts) -> Middleware:
    @web.middleware
    async def check(request: web.Request, handler: Answer) -> web.StreamResponse:
        host = request.headers.get("host")
        if host is None or hosts.include(host):  # every browser sends one
            return await handler(request)
        return _failed(f"this port does not go by the name {host!r}; if it should: `admin_hosts`", 421, "wrong_host")

    return check


@web.middleware
async def _errors(request: web.Request, handler: Answer) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _failed(f"{request.method} {request.path}: {error.reason}; GET / lists what there is", error.status)
    except NotJson:
        return _failed("the body must be JSON and say so: content-type: application/json", 415, "not_json")
    except Exception as error:
        failed = failure(error)
        if failed is None:
            raise
        return _failed(str(failed), failed.status, failed.code)


def _failed(message: str, status: int, code: str = "") -> web.Response:
    words = {404: "not_found", 405: "method_not_allowed", 413: "request_too_large"}
    return _json(Error(ErrorBody(message, code or words.get(status, "invalid_request"))), status)


def _metrics(answers: Answers) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=await answers.metrics_page(), headers={"content-type": CONTENT_TYPE})

    return answer


def _queue_page(answers: Answers) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        queues = await answers.answer(QUEUES, Call(query=QueueQuery()))
        return web.Response(text=queue_page(queues), content_type="text/html", headers={"cache-control": "no-store"})

    return answer


def _text(text: str, content_type: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=text, content_type=content_type)

    return answer


def _json(value: Any, status: int) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")
