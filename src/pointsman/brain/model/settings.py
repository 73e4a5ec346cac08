"""The brain's tuning constants: each with its unit, default and reason."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.tenant import Tenant

Quantile = Annotated[float, Meta(gt=0, le=1)]
Order = Literal["fcfs", "priority", "edf", "utility", "fair"]


class BrainSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the brain weighs, waits, retries and judges. Durations in seconds; those of sockets are `[timeouts]`."""

    seed: Annotated[int, Meta(description="seed of every random draw; equal seeds give equal decisions")] = 0
    ttft_objective_s: Annotated[float, Meta(gt=0, description="backlog of this many seconds counts as load 1")] = 5.0
    gateways: Annotated[int, Meta(ge=1, description="gateways before these nodes that do not hear of each other")] = 1
    queue_limit: Annotated[int, Meta(ge=0, description="tickets that may wait per model")] = 1024
    queue_timeout_s: Annotated[float, Meta(gt=0, description="longest wait in the queue")] = 30.0
    window: Annotated[int, Meta(ge=1, description="waiting tickets a late-binding policy looks at")] = 64
    order: Annotated[
        Order, Meta(description="who of those that wait goes next: fcfs, priority, edf, utility or fair (by tenant)")
    ] = "fcfs"
    fair_locality_tokens: Annotated[
        float, Meta(ge=0, description="service before its turn that a tenant may get where its cache is; 0 = none")
    ] = 0.0
    tenants: Annotated[
        tuple[Tenant, ...],
        Meta(
            description="not to be set here: it is what `[[tenants]]` says without keys",
            extra_json_schema={"readOnly": True},
        ),
    ] = ()
    long_context_tokens: Annotated[
        int, Meta(ge=0, description="prompts of so many tokens are kept apart as long ones; 0 = none are")
    ] = 0
    long_context_nodes: Annotated[
        tuple[str, ...], Meta(description="ids of the nodes that are reserved for long prompts; any node if empty")
    ] = ()
    short_on_long_nodes: Annotated[
        Literal["never", "idle"], Meta(description="when others may use those: never, or while nothing runs there")
    ] = "never"
    long_context_per_node: Annotated[int, Meta(ge=0, description="long prompts at a time on a node; 0 = any")] = 0
    long_context_requests: Annotated[int, Meta(ge=0, description="long prompts at a time in all; 0 = any")] = 0
    overtake_limit: Annotated[int, Meta(ge=0, description="times a waiting ticket may be overtaken")] = 50
    overtake_service: Annotated[
        float, Meta(ge=0, description="service that may overtake a ticket, in multiples of its own; 0 = any")
    ] = 0.0
    preemption: Annotated[
        Literal["off", "on"], Meta(description="whether who fits nowhere takes the place of less urgent streams")
    ] = "off"
    defragmentation: Annotated[
        Literal["off", "on"],
        Meta(description="whether streams are moved to gather free memory for who waits"),
    ] = "off"
    victims: Annotated[
        Literal["cheapest", "value"],
        Meta(description="which of those go first: cheapest (to compute or copy back) or value"),
    ] = "cheapest"
    tries: Annotated[int, Meta(ge=1, description="most nodes one request is sent to")] = 2
    retry_share: Annotated[float, Meta(ge=0, le=1, description="retries in flight, share of active requests")] = 0.1
    retry_floor: Annotated[int, Meta(ge=0, description="retries in flight that are always allowed")] = 3
    first_token_floor_s: Annotated[float, Meta(gt=0, description="least patience for a first token")] = 30.0
    first_token_ceiling_s: Annotated[float, Meta(gt=0, description="most patience for a first token")] = 600.0
    output_quantile: Annotated[
        Quantile | None,
        Meta(description="quantile of a tenant's answers that blocks are reserved for; 1 = max_tokens"),
    ] = None
    """Left out, blocks are reserved for the expected answer: half of the answers then outgrow what was reserved."""
    reserve: Annotated[
        Literal["answer", "peak"],
        Meta(description="what live requests are counted with: as when they began, or what all of a node will need"),
    ] = "answer"
    """`peak`: what all requests of a node are expected to hold at the moment when they hold most (`reserving.py`)."""
    reserve_margin: Annotated[
        float, Meta(ge=0, description="standard deviations of that which are kept beyond it, with `peak`")
    ] = 0.6
    """With less engines preempt more, and with 1 memory lies idle: both cost goodput, tried on answers of thousands."""
    lease_s: Annotated[float, Meta(gt=0, description="a request on a node is aborted after this, whatever it does")] = (
        7200.0
    )
    fails_in_a_row: Annotated[int, Meta(ge=1, description="failures in a row that take a node out")] = 3
    fail_share: Annotated[float, Meta(gt=0, le=1, description="share of failures among recent that does")] = 0.5
    ejection_s: Annotated[float, Meta(gt=0, description="first time out; grows with every further one")] = 10.0
    ejection_cap_s: Annotated[float, Meta(gt=0, description="longest time out")] = 300.0
    slow_start_s: Annotated[float, Meta(ge=0, description="ramp of a returning node from 10 to 100 %")] = 30.0
    busy_s: Annotated[float, Meta(ge=0, description="how long back-pressure lowers a node's score")] = 5.0
    recovery_sample_s: Annotated[float, Meta(ge=0.01, description="spacing of the load samples for recovery")] = 10.0
    peak_decay_s: Annotated[float, Meta(gt=0, description="decay time of the response-time peaks")] = 10.0
    cache: CacheSettings = CacheSettings()
