"""What goes in and out of the admin API, as JSON."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.model.node import MOST, EngineKind, Weight
from pointsman.brain.model.outside import Seconds

Limit = Annotated[float, Meta(ge=0, le=MOST)]


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One node and its state.

    `load` 1 is full; `cap` is how many requests it may hold now, lowered to `share` of its room while it is worse than
    its peers; `queue_growth` is the rise of `outstanding` a second; KV shares are 0..1; what is `reported` is the
    engine's own account, 0 where it gives none.
    """

    id: str
    url: str
    rank: int | None
    engine: EngineKind
    models: list[str]
    state: str
    cap: float
    share: float
    outstanding: int
    queue_growth: float
    running: int
    slots: float
    load: float
    kv_reserved: float
    kv_cached: float
    backlog_tokens: float
    reported_running: float
    reported_waiting: float
    reported_kv_usage: float
    response_seconds: float


class NodeChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change about a node; what is left out stays."""

    drain: Annotated[bool | None, Meta(description="true: no new work; false: take work again")] = None
    limit_s: Annotated[
        Limit | None, Meta(description="with drain: seconds after which what is left goes elsewhere")
    ] = None
    weight: Annotated[Weight | None, Meta(description="share of its concurrency the node may fill; 1 = all")] = None


class PolicyInUse(msgspec.Struct, frozen=True):
    """The policy of one scope, with all its parameters."""

    scope: str
    policy: str
    parameters: dict[str, Any]


class PolicyInfo(msgspec.Struct, frozen=True):
    """A policy one can choose: what it does and its parameters with their defaults."""

    name: str
    summary: str
    parameters: dict[str, Any]


class Policies(msgspec.Struct, frozen=True):
    """The policies in use, and all there are."""

    in_use: list[PolicyInUse]
    available: list[PolicyInfo]


class PolicyChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The policy that decides for a scope from now on."""

    policy: Annotated[str | None, Meta(description="name of the policy; null drops the scope's own policy")]
    scope: Annotated[str, Meta(description="`default`, `model:NAME` or `route:PATH`")] = "default"
    parameters: Annotated[dict[str, Any], Meta(description="parameters that differ from their defaults")] = {}


class DecisionsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which decisions to tell."""

    n: Annotated[int, Meta(ge=1, le=1000, description="how many, newest first")] = 100
    model: Annotated[str | None, Meta(description="only this model's")] = None


class QueueQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much of each queue to tell."""

    n: Annotated[int, Meta(ge=1, le=1000, description="how many of each queue, those who go first")] = 100


class DefragmentQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to do it, or only to say what would be done."""

    dry_run: Annotated[bool, Meta(description="only say which streams would be moved")] = False


class Gathering(msgspec.Struct, frozen=True):
    """Streams that leave a node, where a waiting request then fits."""

    request: Annotated[str, Meta(description="id of the request that waits")]
    node: Annotated[str, Meta(description="the node where it is to fit")]
    moved: Annotated[list[str], Meta(description="ids of the requests whose streams go on elsewhere")]
    blocks: Annotated[int, Meta(description="KV blocks that they give up")]
    seconds: Annotated[float, Meta(description="what it takes to compute them again")]


class Renewal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lease of memory that is to end later, or sooner."""

    lease: Annotated[str, Meta(description="the lease, as its allocation named it")]
    ttl_s: Annotated[Seconds, Meta(description="seconds from now after which it ends")] = 60.0


class Return(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lease of memory that is over."""

    lease: Annotated[str, Meta(description="the lease, as its allocation named it")]


class WarmWish(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt to be computed and cached before it is asked."""

    request: Annotated[dict[str, Any], Meta(description="a request as clients send it; its answer is not asked for")]
    path: Annotated[str, Meta(description="the path they send it to")] = "/v1/chat/completions"
    nodes: Annotated[tuple[str, ...], Meta(description="ids of nodes; every one in use that lacks it if empty")] = ()


class WarmUp(msgspec.Struct, frozen=True):
    """A node that is being sent the beginning of a prompt, of about so many tokens."""

    node: str
    tokens: int


class PinWish(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt whose beginning nodes that obey are to keep cached, or no longer.

    A prompt is known by the bytes of its JSON: the one given is looked for as it is written, then without white space.
    """

    request: Annotated[
        msgspec.Raw,
        Meta(
            description="a request as clients send it; its answer is not asked for",
            extra_json_schema={"type": "object"},
        ),
    ]
    path: Annotated[str, Meta(description="the path they send it to")] = "/v1/chat/completions"
    nodes: Annotated[tuple[str, ...], Meta(description="ids of nodes; every one that obeys and holds it if empty")] = ()


class Pinned(msgspec.Struct, frozen=True):
    """A node that is told to keep so many links (256 bytes each) of a prompt, or to keep them no longer."""

    node: str
    links: int


class Health(msgspec.Struct, frozen=True):
    """Whether the gateway runs (`healthz`) or can serve (`readyz`)."""

    status: Literal["ok", "not_ready"]


class ErrorBody(msgspec.Struct, frozen=True):
    """What was wrong, for people, and one word for programs."""

    message: str
    code: str


class Error(msgspec.Struct, frozen=True):
    """How every error looks."""

    error: ErrorBody
