"""What is learned about a node from outside a request: probes, metric scrapes, heartbeats, the word of clients."""

import msgspec


class NodeReport(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One reading of one node. None means: this source does not say.

    `ok` is false when the reading itself failed, for `reason`: one word, and details behind a colon if there are any.
    Of a good one that names no `models` it may say why. `seconds` is what the node took to answer or to fail, `flowing`
    whether answers to requests came from it meanwhile.
    `kv_usage` is a share 0..1 of the node's blocks (an engine's gauge may count evictable blocks as free), `gpu_busy`
    one of the time, as NVML counts it. `load` is a plain server's own figure. `obeys`: whether it takes orders about
    its cache; it may copy `swap_blocks` more to other memory, at `swap_block_s` seconds each.
    """

    node: str
    ok: bool
    reason: str = ""
    seconds: float = 0.0
    flowing: bool = False
    models: tuple[str, ...] | None = None
    running: int | None = None
    waiting: int | None = None
    kv_usage: float | None = None
    gpu_busy: float | None = None
    slots: int | None = None
    kv_blocks: int | None = None
    block_tokens: int | None = None
    load: float | None = None
    started_at: float | None = None
    obeys: bool | None = None
    swap_blocks: int = 0
    swap_block_s: float = 0.0


class ClientReport(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What `tenant` says of the answer to its `request` (an id), after it ended; `reason` is its own free text."""

    request: str
    tenant: str
    good: bool
    reason: str = ""
