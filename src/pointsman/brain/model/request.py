"""What a client asks for, as far as placing it needs to know."""

from collections.abc import Sequence

import msgspec

from pointsman.brain.model.sizes import check_chain, check_request


class Chain(msgspec.Struct, frozen=True, gc=False):
    """The chained hashes of a prompt's leading chunks: link i covers everything up to and including chunk i.

    `kind` names what a chunk is ("bytes", "tokens", "trace"); only chains of one kind are ever compared.
    `links` are 64-bit ints. `tokens_per_link` is the chunk's size in tokens, or 0 when the chunk is counted in
    bytes and the model's learned ratio gives its tokens.
    """

    kind: str
    links: Sequence[int]
    tokens_per_link: float = 0.0
    bytes_per_link: int = 0

    __post_init__ = check_chain  # type: ignore[misc]  # called with the value, as a method is


class Request(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One inference request. Sizes in tokens; `prompt_tokens` 0 means unknown, then `prompt_bytes` is converted.

    `ttft_slo_s` is within how many seconds of its submission the client wants the first token, if it said so.
    `token_chain` is the prompt, as far as its tokens are known, as nodes that report their caches are known by it.
    `resumable` tells that its stream can be taken off a node at any time, and the rest be asked of another one.
    """

    id: str
    model: str
    prompt_tokens: float = 0.0
    prompt_bytes: int = 0
    chain: Chain | None = None
    token_chain: Chain | None = None
    max_tokens: int | None = None
    stream: bool = False
    resumable: bool = False
    priority: float = 1.0
    ttft_slo_s: float | None = None
    tenant: str = ""
    session: str = ""
    route: str = ""

    __post_init__ = check_request  # type: ignore[misc]
