"""The settings of an emulated engine, as one frozen value."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.model.node import BlockMib

# msgspec takes a bound only inside an optional type, not around it
Positive = Annotated[int, Meta(ge=1)]
PositiveFloat = Annotated[float, Meta(gt=0)]
Scale = Annotated[float, Meta(ge=0.001, le=1000)]
"""Times as fast as something known: beyond that it is a slip of the pen, and times leave what floats can tell."""
# What --help calls the values of flags.
Host = Annotated[str, Meta(extra={"metavar": "HOST"})]
Port = Annotated[int, Meta(extra={"metavar": "PORT"})]
Name = Annotated[str, Meta(extra={"metavar": "NAME"})]
Names = Annotated[tuple[str, ...], Meta(extra={"metavar": "NAME,..."})]
Key = Annotated[str, Meta(extra={"metavar": "KEY"})]
Endpoint = Annotated[str, Meta(pattern=r"^$|^(tcp|ipc)://[!-~]+$", extra={"metavar": "ADDRESS"})]
File = Annotated[str, Meta(extra={"metavar": "FILE"})]


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman engine`: an engine that answers like vLLM and takes the time a GPU would, without one."""

    host: Annotated[Host, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="port to listen on", ge=0, le=65535)] = 8100
    model: Annotated[Names, Meta(description="names to serve (default: the profile's)")] = ()
    profile: Annotated[Name, Meta(description="model whose size sets the timing: a name or a config.json")] = (
        "Llama-3-8B"
    )
    gpu: Annotated[Name, Meta(description="GPU whose speed and memory set the timing: a name or a TOML file")] = (
        "A100-80G"
    )
    tp: Annotated[int, Meta(description="tensor-parallel GPUs", ge=1)] = 1
    prefill_tokens_per_second: Annotated[
        PositiveFloat | None,
        Meta(description="measured prefill speed; with --decode-base-ms it replaces the profile's timing"),
    ] = None
    decode_base_ms: Annotated[
        PositiveFloat | None, Meta(description="measured time of a decode step, batch size apart")
    ] = None
    decode_per_sequence_ms: Annotated[float, Meta(description="what each sequence adds to a decode step", ge=0)] = 0.0
    speed: Annotated[float, Meta(description="speed relative to the profile; 0.33 is three times slower", gt=0)] = 1.0
    bandwidth_scale: Annotated[Scale, Meta(description="memory bandwidth relative to the GPU's")] = 1.0
    compute_scale: Annotated[Scale, Meta(description="arithmetic speed relative to the GPU's")] = 1.0
    overhead_ms: Annotated[float, Meta(description="time in the API server before scheduling", ge=0)] = 20.0
    kv_blocks: Annotated[Positive | None, Meta(description="KV cache blocks (default: what the GPU memory holds)")] = (
        None
    )
    block_size: Annotated[int, Meta(description="tokens in a KV cache block", ge=1)] = 16
    block_mib: Annotated[BlockMib | None, Meta(description="MiB in a KV cache block, instead of tokens")] = None
    max_num_seqs: Annotated[Positive | None, Meta(description="sequences in a batch (default: by GPU)")] = None
    max_num_batched_tokens: Annotated[Positive | None, Meta(description="tokens in a step (default: by GPU)")] = None
    max_model_len: Annotated[Positive | None, Meta(description="tokens of prompt and answer (default: 32768)")] = None
    scheduling_policy: Annotated[Literal["fcfs", "priority"], Meta(description="order of waiting requests")] = "fcfs"
    swap_memory_gib: Annotated[float, Meta(description="CPU memory for preempted KV blocks", ge=0)] = 0.0
    swap_memory_gbps: Annotated[float, Meta(description="GB/s of copying to CPU memory and back", gt=0)] = 20.0
    swap_disk_gib: Annotated[float, Meta(description="disk for preempted KV blocks", ge=0)] = 0.0
    swap_disk_gbps: Annotated[float, Meta(description="GB/s of copying to the disk and back", gt=0)] = 3.0
    obeys: Annotated[bool, Meta(description="let a gateway say what the KV cache evicts, pins and swaps")] = False
    time_scale: Annotated[float, Meta(description="engine seconds that pass in a second of wall time", gt=0)] = 1.0
    stream_interval: Annotated[int, Meta(description="tokens in a streamed chunk after the first", ge=1)] = 1
    mean_output_tokens: Annotated[int, Meta(description="mean length of answers that end by themselves", ge=1)] = 200
    api_key: Annotated[Key | None, Meta(description="bearer token that clients must send")] = None
    shutdown_seconds: Annotated[float, Meta(description="after SIGTERM, for running requests to end", gt=0)] = 2.0
    audit_log: Annotated[File | None, Meta(description="file for the life of every request, as JSON lines")] = None
    kv_events: Annotated[
        Endpoint, Meta(description="address to publish KV events at, such as tcp://127.0.0.1:5557; needs pyzmq")
    ] = ""
    kv_replay: Annotated[Endpoint, Meta(description="address where they can be asked for again")] = ""
    plain: Annotated[bool, Meta(description="be a plain HTTP inference server instead")] = False
    plain_base_seconds: Annotated[float, Meta(description="plain: response time without load", ge=0)] = 0.1
    plain_slope_seconds: Annotated[float, Meta(description="plain: response time added at full load", ge=0)] = 0.9
    plain_capacity: Annotated[int, Meta(description="plain: requests in flight that are full load", ge=1)] = 10
