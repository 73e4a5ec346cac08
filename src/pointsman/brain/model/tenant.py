"""On whose behalf requests are made, and what each may have."""

from typing import Annotated

import msgspec
from msgspec import Meta

ANYONE = "*"
"""The name of the rules for every tenant without rules of its own."""

Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Tenant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tenant's rules. What is 0 is not limited."""

    name: Annotated[str, Meta(min_length=1, description="what metrics and records call it; `*`: whoever is not named")]
    weight: Annotated[float, Meta(gt=0, description="share of the service under `brain.order` fair")] = 1.0
    priority: Annotated[float, Meta(gt=0, description="priority of its requests")] = 1.0
    priority_ceiling: Annotated[
        Amount, Meta(description="highest priority a request may ask for; `priority` if lower")
    ] = 0.0
    requests_per_minute: Annotated[Amount, Meta(description="requests per minute; 0 = any")] = 0.0
    tokens_per_minute: Annotated[Amount, Meta(description="tokens per minute, prompts and answers; 0 = any")] = 0.0
    concurrent: Annotated[int, Meta(ge=0, description="requests at a time; 0 = any")] = 0
    kv_share: Annotated[
        Share, Meta(description="most of all nodes' KV memory its requests hold at a time; 0 = any")
    ] = 0.0
    node_share: Annotated[
        Share, Meta(description="most of any one node's; a tenant that holds nothing there may go")
    ] = 0.0

    @property
    def capped(self) -> bool:
        """Whether its share of KV memory is."""
        return bool(self.kv_share or self.node_share)

    @property
    def limited(self) -> bool:
        """Whether it has a quota."""
        return bool(self.requests_per_minute or self.tokens_per_minute or self.concurrent)
