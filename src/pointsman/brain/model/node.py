"""The identity and declared abilities of one schedulable endpoint."""

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

AtLeastOne = Annotated[int, Meta(ge=1)]
EngineKind = Literal["vllm", "sglang", "openai", "plain"]


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One node: a base URL and a data-parallel rank. What is left out is learned from the engine or assumed."""

    url: Annotated[str, Meta(description="base URL of the engine, such as http://10.0.0.5:8000")]
    id: Annotated[str, Meta(description="name in metrics and decisions; the URL (and rank) if empty")] = ""
    rank: Annotated[int | None, Meta(description="data-parallel rank behind the URL")] = None
    engine: Annotated[EngineKind, Meta(description="what speaks there")] = "openai"
    models: Annotated[tuple[str, ...], Meta(description="models served; asked from the engine if empty")] = ()
    weight: Annotated[float, Meta(gt=0, description="share of its concurrency the node may fill; 1 = all")] = 1.0
    slots: Annotated[AtLeastOne | None, Meta(description="requests it runs at once (max_num_seqs)")] = None
    kv_tokens: Annotated[AtLeastOne | None, Meta(description="KV capacity in tokens")] = None
    block_tokens: Annotated[int, Meta(ge=1, description="tokens per KV block")] = 16
    hardware: Annotated[str, Meta(description="GPU name for the cost model's prior, such as H100")] = ""
    profile: Annotated[str, Meta(description="model shape for the cost model's prior, such as Llama-3-8B")] = ""
    tensor_parallel: Annotated[int, Meta(ge=1, description="GPUs that share one copy of the model")] = 1

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
