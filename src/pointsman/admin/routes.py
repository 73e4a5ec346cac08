"""The admin API as a table: what can be asked, with what, and who answers.

The application, its description (`openapi.py`) and the index page are all made from `ROUTES`.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from pointsman.admin import catalogue
from pointsman.admin.services import Services
from pointsman.admin.values import (
    DecisionsQuery,
    DefragmentQuery,
    Gathering,
    Health,
    Node,
    NodeChange,
    Pinned,
    PinWish,
    Policies,
    PolicyChange,
    PolicyInUse,
    QueueQuery,
    Renewal,
    Return,
    WarmUp,
    WarmWish,
)
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.outside import Allocation, MemoryWish
from pointsman.observe.chapters import Story
from pointsman.observe.decision import Decision
from pointsman.observe.memory import Holding, Memory
from pointsman.observe.queues import Queue


class Call(msgspec.Struct, frozen=True):
    """One request to the API: the path's variable, and query and body as the route declares them."""

    id: str = ""
    query: Any = None
    body: Any = None


class NotReady(Exception):
    """No node can be given work."""


Handler = Callable[[Services, Call], Any]


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One operation. `answer` is the type of the JSON answer; None means no content. `path` may hold one {id}.

    `whom`: of several workers all make a change, those that come later too; or one does, and the others hear of it as
    they hear of requests; or each that serves does now, for the requests that it has.
    """

    method: str
    path: str
    summary: str
    handler: Handler
    answer: Any = None
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    status: int = 200
    whom: Literal["all", "one", "each"] = "all"


def _healthy(_services: Services, _call: Call) -> Health:
    return Health("ok")


def _ready(services: Services, _call: Call) -> Health:
    if not services.ready():
        raise NotReady("no node can be given work")
    return Health("ok")


def _nodes(services: Services, _call: Call) -> list[Node]:
    return services.nodes()


def _node(services: Services, call: Call) -> Node:
    return services.node(call.id)


def _add_node(services: Services, call: Call) -> Node:
    return services.add_node(call.body)


def _change_node(services: Services, call: Call) -> Node:
    return services.change_node(call.id, call.body)


def _remove_node(services: Services, call: Call) -> None:
    services.remove_node(call.id)


def _cache(services: Services, _call: Call) -> Memory:
    return services.memory()


def _cache_requests(services: Services, _call: Call) -> list[Holding]:
    return services.holdings()


def _defragment(services: Services, call: Call) -> list[Gathering]:
    return services.defragment(dry_run=call.query.dry_run)


def _allocate(services: Services, call: Call) -> Allocation:
    return services.allocate(call.body)


def _renew(services: Services, call: Call) -> Allocation:
    return services.renew(call.body)


def _release(services: Services, call: Call) -> None:
    services.release(call.body.lease)


def _warm(services: Services, call: Call) -> list[WarmUp]:
    return services.warm(call.body)


def _pin(services: Services, call: Call) -> list[Pinned]:
    return services.pin(call.body, keep=True)


def _unpin(services: Services, call: Call) -> list[Pinned]:
    return services.pin(call.body, keep=False)


def _queues(services: Services, call: Call) -> list[Queue]:
    return services.queues(call.query.n)


def _decisions(services: Services, call: Call) -> list[Decision]:
    return services.decisions(call.query.n, call.query.model)


def _stories_of(services: Services, call: Call) -> list[Story]:
    return services.stories_of(call.id)


def _policies(services: Services, _call: Call) -> Policies:
    return Policies(services.policies(), catalogue.policies())


def _set_policy(services: Services, call: Call) -> list[PolicyInUse]:
    return services.set_policy(call.body)


QUEUES = Route(
    method="GET",
    path="/queue",
    summary="Who waits, in which position, since when and for how much longer",
    handler=_queues,
    answer=list[Queue],
    query=QueueQuery,
)

ROUTES = (
    Route(method="GET", path="/healthz", summary="The process runs", handler=_healthy, answer=Health),
    Route(method="GET", path="/readyz", summary="At least one node can serve, else 503", handler=_ready, answer=Health),
    Route(method="GET", path="/nodes", summary="Every node and its state", handler=_nodes, answer=list[Node]),
    Route(
        method="POST",
        path="/nodes",
        summary="Add a node",
        handler=_add_node,
        answer=Node,
        body=NodeSpec,
        status=201,
    ),
    Route(method="GET", path="/nodes/{id}", summary="One node", handler=_node, answer=Node),
    Route(
        method="PATCH",
        path="/nodes/{id}",
        summary="Drain, undrain or weigh a node",
        handler=_change_node,
        answer=Node,
        body=NodeChange,
    ),
    Route(
        method="DELETE",
        path="/nodes/{id}",
        summary="Remove a node once it has finished what it has",
        handler=_remove_node,
        status=204,
    ),
    Route(
        method="GET", path="/cache", summary="KV memory of the fleet and of each node", handler=_cache, answer=Memory
    ),
    Route(
        method="GET",
        path="/cache/requests",
        summary="What each request holds of it, or waits for, oldest first",
        handler=_cache_requests,
        answer=list[Holding],
    ),
    Route(
        method="POST",
        path="/cache/defragment",
        summary="Move streams to gather KV memory for requests that wait and fit nowhere",
        handler=_defragment,
        answer=list[Gathering],
        query=DefragmentQuery,
        whom="each",
    ),
    Route(
        method="POST",
        path="/cache/allocate",
        summary="Hold memory for a request that others serve, under a lease that ends by itself",
        handler=_allocate,
        answer=Allocation,
        body=MemoryWish,
        status=201,
        whom="one",
    ),
    Route(
        method="POST",
        path="/cache/renew",
        summary="Let such a lease end later; 409 if it has ended",
        handler=_renew,
        answer=Allocation,
        body=Renewal,
        whom="one",
    ),
    Route(
        method="POST",
        path="/cache/release",
        summary="End such a lease; 409, which changes nothing, if it has ended",
        handler=_release,
        body=Return,
        status=204,
        whom="one",
    ),
    Route(
        method="POST",
        path="/cache/warm",
        summary="Have nodes compute a prompt before it is asked",
        handler=_warm,
        answer=list[WarmUp],
        body=WarmWish,
        status=202,
        whom="one",
    ),
    Route(
        method="POST",
        path="/cache/pin",
        summary="Have nodes that obey keep the beginning of a prompt cached",
        handler=_pin,
        answer=list[Pinned],
        body=PinWish,
        status=202,
        whom="one",
    ),
    Route(
        method="POST",
        path="/cache/unpin",
        summary="Let them evict it again",
        handler=_unpin,
        answer=list[Pinned],
        body=PinWish,
        status=202,
        whom="one",
    ),
    QUEUES,
    Route(
        method="GET",
        path="/decisions",
        summary="The last decisions, newest first, with every candidate's score",
        handler=_decisions,
        answer=list[Decision],
        query=DecisionsQuery,
    ),
    Route(
        method="GET",
        path="/decisions/{id}",
        summary="The whole story of one request, by its id, from its arrival to its end",
        handler=_stories_of,
        answer=list[Story],
    ),
    Route(method="GET", path="/policy", summary="Policies in use and available", handler=_policies, answer=Policies),
    Route(
        method="PUT",
        path="/policy",
        summary="Change the policy of a scope, at once",
        handler=_set_policy,
        answer=list[PolicyInUse],
        body=PolicyChange,
    ),
)

PAGES = {
    "/": "This page",
    "/queue.html": "Who waits, as a page",
    "/metrics": "Metrics in Prometheus's text format",
    "/openapi.json": "This API, described by OpenAPI 3.1",
}
"""What is served beside the table: texts, not JSON values."""
