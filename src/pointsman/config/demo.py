"""Settings of `pointsman demo`."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.config.flags import ConfigError, Directory, File, Names
from pointsman.config.outputs import check_output, put_output
from pointsman.config.traces import trace_file
from pointsman.workload.rows import Trace

POLICIES = (
    "round_robin",
    "least_requests",
    "two_choices",
    "least_response_time",
    "fastest_recovery",
    "hybrid",
    "jffc",
    "fastest_free",
    "fastest_completion",
)


class DemoConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the demonstration compares, on what load, and what it leaves behind."""

    scene: Annotated[
        Literal["uneven", "memory-tight"],
        Meta(description="what is shown: slow nodes of which one degrades, or engines that run out of KV memory"),
    ] = "uneven"
    policies: (
        Annotated[Names, Meta(min_length=1, description="policies to compare, in order; those of the scene if absent")]
        | None
    ) = None
    trace: Annotated[File, Meta(description="replay this trace (Mooncake, Bailian, Azure or BurstGPT) open loop")] = ""
    lenient: Annotated[bool, Meta(description="skip and count bad rows of the trace instead of stopping")] = False
    load: (
        Annotated[
            float,
            Meta(
                gt=0, le=2, description="offered load as a share of the fleet's saturation; that of the scene if absent"
            ),
        ]
        | None
    ) = None
    seconds: (
        Annotated[
            float, Meta(ge=2, le=600, description="wall seconds of load per policy; those of the scene if absent")
        ]
        | None
    ) = None
    time_scale: (
        Annotated[float, Meta(gt=0, le=50, description="engine seconds per wall second; as the load allows if absent")]
        | None
    ) = None
    seed: Annotated[int, Meta(ge=0, description="seed of arrivals, lengths and texts")] = 1
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False
    journals: Annotated[Directory, Meta(description="keep each policy's journal in this directory, for replay")] = ""
    report: Annotated[File, Meta(description="write a self-contained HTML report with figures to this file")] = ""


def read_demo_trace(config: DemoConfig) -> Trace | None:
    """The trace to replay, if one is named. Raises ConfigError when it cannot be opened, TraceError when not read."""
    return trace_file(config.trace, lenient=config.lenient) if config.trace else None


def check_report(config: DemoConfig) -> None:
    """Whether a report could be written where the settings say; what is there stays. Raises ConfigError."""
    check_output(config.report, "report")


def write_report(config: DemoConfig, html: str) -> None:
    """Put the report in the place of what is there, at once and only when it is whole. Raises ConfigError."""
    put_output(config.report, html, "report")


def journal_folder(config: DemoConfig) -> Path | None:
    """Where the journals go, made if need be; None for nowhere. Raises ConfigError."""
    if not config.journals:
        return None
    folder = Path(config.journals).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"`journals`: {config.journals}: {error.strerror}") from None
    return folder
