"""The data plane's own settings: patience and sizes."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.model.tenant import Tenant
from pointsman.wire.openai.resumable import Mode

Seconds = Annotated[float, Meta(gt=0)]
_MOST_BYTES = 1 << 30
"""Buffers that are larger cannot be had from the event loop; nobody means them."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Seconds on sockets. How long a request may queue is `brain.queue_timeout_s`, patience for its first token
    `brain.first_token_floor_s` and `brain.first_token_ceiling_s`: the decisions depend on them.
    """

    connect_s: Annotated[Seconds, Meta(description="opening a connection to a node")] = 2.0
    between_tokens_s: Annotated[Seconds, Meta(description="silence inside a stream that has begun")] = 60.0
    total_s: Annotated[Seconds, Meta(description="a whole request, unless the client sets its own limit")] = 3600.0
    client_head_s: Annotated[Seconds, Meta(description="a client sending a request head")] = 10.0
    client_body_s: Annotated[Seconds, Meta(description="silence of a client inside a request body")] = 60.0
    client_idle_s: Annotated[Seconds, Meta(description="a kept connection without a request")] = 75.0
    client_stall_s: Annotated[Seconds, Meta(description="a client taking nothing of what waits for it")] = 60.0
    node_idle_s: Annotated[Seconds, Meta(description="an unused connection to a node; engines close theirs at 5")] = 2.5
    node_gone_s: Annotated[Seconds, Meta(description="a node's system acknowledging nothing at all")] = 60.0
    probe_s: Annotated[Seconds, Meta(description="a node answering a probe")] = 5.0
    lame_duck_s: Annotated[float, Meta(ge=0, description="not ready, yet serving, after SIGTERM")] = 5.0
    drain_s: Annotated[float, Meta(ge=0, description="running requests after that")] = 600.0


class Resuming(msgspec.Struct, frozen=True):
    """How interrupted streams go on: as `default` says, or as its own entry in `models`."""

    default: Mode = "off"
    models: Mapping[str, Mode] = {}

    def __bool__(self) -> bool:
        return self.default != "off" or any(mode != "off" for mode in self.models.values())

    def of(self, model: str) -> Mode:
        return self.models.get(model, self.default)


class ClientTenant(Tenant, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tenant and how its clients show that they are its own: `[[tenants]]`."""

    keys: Annotated[
        tuple[str, ...], Meta(description="keys of its clients, each as it is or as `sha256:` and its digest in hex")
    ] = ()


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sizes in bytes."""

    body_bytes: Annotated[int, Meta(ge=1, description="request body")] = 64 * 1024 * 1024
    head_bytes: Annotated[int, Meta(ge=256, le=_MOST_BYTES, description="request line and headers")] = 16 * 1024
    headers: Annotated[int, Meta(ge=1, description="headers of a request")] = 100
    stream_buffer_bytes: Annotated[int, Meta(ge=1024, le=_MOST_BYTES, description="held for a slow client")] = (
        256 * 1024
    )
    idle_connections: Annotated[int, Meta(ge=0, description="unused connections kept per node")] = 256
