"""What the cache manager does ahead of requests: memory kept ready for some, hot prefixes sent to idle nodes."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.model.node import MOST, AtLeastOne, Share

Count = Annotated[int, Meta(ge=0, le=MOST)]
Seconds = Annotated[float, Meta(gt=0)]


class MemoryClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Requests for `model` that take up to `up_to_tokens`, and more than the model's next smaller class."""

    model: Annotated[str, Meta(min_length=1, description="model that they ask for")]
    up_to_tokens: Annotated[AtLeastOne, Meta(description="most tokens of prompt and reserved answer together")]
    requests: Annotated[
        Count, Meta(description="requests of this size that each node keeps memory for, if demand asks for no more")
    ] = 0
    nodes: Annotated[AtLeastOne, Meta(description="nodes that keep it")] = 1


class CacheSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing of it is on by default; `eviction` is for nodes that are commanded."""

    prealloc: Annotated[
        tuple[MemoryClass, ...], Meta(description="classes of requests whose memory is kept ready from the start")
    ] = ()
    demand_classes: Annotated[
        Count, Meta(description="further ones that are found by demand: a model's prompts by powers of two; 0 = none")
    ] = 0
    demand_nodes: Annotated[AtLeastOne, Meta(description="nodes that keep memory for one of these")] = 2
    demand_memory_s: Annotated[Seconds, Meta(description="memory of the averages of demand")] = 60.0
    unused_s: Annotated[Seconds, Meta(description="memory kept for a class is given back after so long without it")] = (
        300.0
    )
    starve_s: Annotated[Seconds, Meta(description="while anyone waits for longer, one node gives its own back")] = 20.0
    gather_load: Annotated[
        Share, Meta(description="share of its requests and memory a fleet may have and have a node emptied; 0 = never")
    ] = 0.0
    gather_after_s: Annotated[Seconds, Meta(description="how long it must have had no more")] = 10.0
    gather_above: Annotated[
        Share,
        Meta(description="share of a node's memory that no request can have in one piece, from which that is done"),
    ] = 0.5
    warm_nodes: Annotated[Count, Meta(description="nodes that are to hold a hot prefix; 0 = nothing is warmed")] = 0
    warm_hits: Annotated[Seconds, Meta(description="prompts of late that must share a prefix for it to be hot")] = 3.0
    warm_tokens: Annotated[AtLeastOne, Meta(description="shorter prefixes are not worth it")] = 256
    warm_load: Annotated[Share, Meta(description="share of its requests a node may have and count as idle")] = 0.25
    warm_share: Annotated[
        Annotated[float, Meta(gt=0, le=1)], Meta(description="share of an idle node's time spent on warming it")
    ] = 0.2
    eviction: Annotated[
        Literal["lru", "lfu", "gdsf", "reuse"],
        Meta(description="what nodes that are commanded evict first: lru, lfu, gdsf or reuse"),
    ] = "lru"

    def __post_init__(self) -> None:
        """Raises ValueError for two classes that are one."""
        sizes = [(kept.model, kept.up_to_tokens) for kept in self.prealloc]
        for model, tokens in sizes:
            if sizes.count((model, tokens)) > 1:
                raise ValueError(f"`prealloc` has {model!r} up to {tokens} tokens more than once; keep one of them")
