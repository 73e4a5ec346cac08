"""Settings of `pointsman sim fit`."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.config.catalogue import Files
from pointsman.config.flags import ConfigError, Name, Names, Recordings
from pointsman.config.traces import recordings
from pointsman.engine.profile import EngineProfile, profile_of
from pointsman.engine.settings import EngineConfig, Positive
from pointsman.workload.recording_line import Recorded
from pointsman.workload.rows import TraceError

Form = Literal["sim", "engine"]
ENGINE = ("profile", "gpu", "tp", "kv_blocks", "block_size", "max_num_seqs", "max_num_batched_tokens", "max_model_len")
"""What is known of the engines beforehand."""


class FitConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim fit`: how fast recorded engines were. All nodes that are fitted count as equal machines."""

    recordings: Annotated[Recordings, Meta(description="what `pointsman serve --recording FILE` wrote")] = ()
    lenient: Annotated[bool, Meta(description="skip and count bad rows instead of stopping")] = False
    nodes: Annotated[Names, Meta(description="recorded nodes to fit (default: all of them)")] = ()
    requests: Annotated[int, Meta(ge=1, description="of each node, the first so many requests")] = 500
    profile: Annotated[Name, Meta(description="the engines' model: a name or a config.json")] = "Llama-3-8B"
    gpu: Annotated[Name, Meta(description="their GPU: a name or a TOML file")] = "A100-80G"
    tp: Annotated[int, Meta(description="tensor-parallel GPUs", ge=1)] = 1
    kv_blocks: Annotated[Positive | None, Meta(description="KV cache blocks (default: what the memory holds)")] = None
    block_size: Annotated[int, Meta(description="tokens in a KV cache block", ge=1)] = 16
    max_num_seqs: Annotated[Positive | None, Meta(description="sequences in a batch (default: by GPU)")] = None
    max_num_batched_tokens: Annotated[Positive | None, Meta(description="tokens in a step (default: by GPU)")] = None
    max_model_len: Annotated[Positive | None, Meta(description="tokens of prompt and answer (default: 32768)")] = None
    form: Annotated[Form, Meta(description="print a [[node]] of the simulator, or settings of an engine")] = "sim"
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False

    def engine(self, **fitted: float) -> EngineConfig:
        """The engines' settings, with what was fitted."""
        return EngineConfig(**{key: getattr(self, key) for key in ENGINE}, **fitted)  # type: ignore[arg-type]


def profile(config: EngineConfig) -> EngineProfile:
    """What the settings of an engine come to. Raises ConfigError."""
    try:
        return profile_of(config, Files())
    except ValueError as error:
        raise ConfigError(f"`profile`: {error}") from None


def recorded_lines(config: FitConfig) -> list[Recorded]:
    """Of the recordings, the requests to the nodes that are asked for. Raises ConfigError."""
    if not config.recordings:
        raise ConfigError("`recordings`: name the files to fit to: pointsman sim fit traffic.jsonl")
    try:
        lines, _ = recordings(config.recordings, lenient=config.lenient)
    except TraceError as error:
        raise ConfigError(f"`recordings`: {error}") from None
    known = sorted({line.node for line in lines if line.node})
    for name in config.nodes:
        if name not in known:
            raise ConfigError(f"`nodes`: no request to {name!r} was recorded; there are: {', '.join(known) or 'none'}")
    return [line for line in lines if line.node in config.nodes or not config.nodes]
