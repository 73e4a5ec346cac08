"""The identity and declared abilities of one schedulable endpoint."""

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

MOST = 10**9
"""Nothing that is counted here is more: so products of such numbers stay exact, and fit every encoding."""
HEAVIEST = 1000.0
_PRINTABLE = r"^(?![\s\S]*[\x00-\x1f\x7f-\x9f\u2028\u2029])"
_LONGEST_ID = 256  # characters
_LONGEST_URL = 2048

AtLeastOne = Annotated[int, Meta(ge=1, le=MOST)]
Endpoint = Annotated[str, Meta(pattern=r"^$|^@?(tcp|ipc)://[!-~]+$", max_length=_LONGEST_URL)]
Id = Annotated[str, Meta(pattern=_PRINTABLE, max_length=_LONGEST_ID)]
Weight = Annotated[float, Meta(gt=0, le=HEAVIEST)]
Rank = Annotated[int, Meta(ge=0, le=MOST)]
Share = Annotated[float, Meta(ge=0, le=1)]
BlockMib = Annotated[int, Meta(ge=16, le=1024)]
KvLayout = Literal["paged", "size_class", "buddy"]
Residency = Literal["believed", "reported", "commanded"]
EngineKind = Literal["vllm", "sglang", "openai", "plain"]


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One node: a base URL and a data-parallel rank. What is left out is learned from the engine or assumed."""

    url: Annotated[
        str, Meta(max_length=_LONGEST_URL, description="base URL of the engine, such as http://10.0.0.5:8000")
    ]
    id: Annotated[Id, Meta(description="name in metrics and decisions; the URL (and rank) if empty")] = ""
    rank: Annotated[Rank | None, Meta(description="data-parallel rank behind the URL")] = None
    engine: Annotated[
        EngineKind, Meta(description="what speaks there; all but `plain` are probed alike and known by their metrics")
    ] = "openai"
    models: Annotated[tuple[str, ...], Meta(description="models served; asked from the engine if empty")] = ()
    weight: Annotated[Weight, Meta(description="share of its concurrency the node may fill; 1 = all")] = 1.0
    slots: Annotated[AtLeastOne | None, Meta(description="requests it runs at once (max_num_seqs)")] = None
    kv_tokens: Annotated[AtLeastOne | None, Meta(description="KV capacity in tokens")] = None
    block_tokens: Annotated[AtLeastOne, Meta(description="tokens per KV block")] = 16
    block_mib: Annotated[
        BlockMib | None,
        Meta(description="MiB per KV block on all its GPUs, instead of tokens: 128 or 256 suit slabs; needs `profile`"),
    ] = None
    kv_layout: Annotated[
        KvLayout,
        Meta(description="how it lays KV out: pages; pages, short requests apart from long; slabs of 2^k blocks"),
    ] = "paged"
    kv_split_tokens: Annotated[AtLeastOne, Meta(description="`size_class`: up to so many tokens are short")] = 1024
    kv_short_share: Annotated[Share, Meta(description="`size_class`: share of its blocks for short requests")] = 0.25
    residency: Annotated[
        Residency,
        Meta(description="how it is known what it has cached: from what was sent, from its KV events, or by orders"),
    ] = "believed"
    kv_events: Annotated[
        Endpoint, Meta(description="where its KV events come from, such as tcp://10.0.0.5:5557; `reported` needs it")
    ] = ""
    kv_replay: Annotated[Endpoint, Meta(description="where they can be asked for again, if anywhere")] = ""
    hardware: Annotated[str, Meta(description="GPU name for the cost model's prior, such as H100")] = ""
    profile: Annotated[str, Meta(description="model shape for the cost model's prior, such as Llama-3-8B")] = ""
    tensor_parallel: Annotated[AtLeastOne, Meta(description="GPUs that share one copy of the model")] = 1

    @property
    def name(self) -> str:
        """The node's id: as given, else made from URL and rank."""
        return self.id or (self.url if self.rank is None else f"{self.url}#{self.rank}")


class NodeState(StrEnum):
    """Where a node stands; `life/health.py` holds the table of moves."""

    JOINING = "joining"  # new, or back from being down and on trial with one request
    UP = "up"
    SUSPECT = "suspect"  # probes fail or lag: used only when nothing else is there
    DOWN = "down"
    DRAINING = "draining"  # finishes what it has, gets nothing new
    GONE = "gone"
