"""What the settings of `pointsman sim` say of the load: which requests, of whom, and how fast they come."""

from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig
from pointsman.config.traces import trace_files
from pointsman.workload.kinds import ClientKind
from pointsman.workload.laws import Arrivals
from pointsman.workload.presets import WORKLOADS
from pointsman.workload.rows import Trace, TraceError
from pointsman.workload.timed_trace import TOKENS_PER_BLOCK, TimedTraceFormat
from pointsman.workload.traces import of_model, part_of, repeated

OF_TRACES = (
    "lenient",
    "trace_block_tokens",
    "trace_unit",
    "part",
    "from_request",
    "requests_count",
    "open_loop",
    "repeat",
    "jitter_s",
    "trace_model",
)
"""Settings that mean something beside a trace only."""
MOST_REQUESTS = 20_000_000
"""Of one run: more would not fit into memory."""
USUAL, USUAL_OF_PLAIN = "assistant", "images"


def kinds_of(config: SimConfig, usual: str = USUAL) -> tuple[ClientKind, ...] | None:
    """The clients whose dialogues are generated: of the file, of the preset, else the `usual` ones.

    None where a trace says all.

    Raises ConfigError for an unknown preset, for a name given twice, and for what goes ill with a trace.
    """
    if trace_runs(config):
        _refuse_beside_a_trace(config)
        return None
    if config.arrivals == "trace" and not config.traces:
        raise ConfigError("`arrivals`: there is no trace to arrive as; name one by `trace`")
    name = config.workload or usual
    if not config.clients and name not in WORKLOADS:
        raise ConfigError(f"`workload`: no preset named {name!r}; there are: {', '.join(WORKLOADS)}")
    kinds = config.clients or WORKLOADS[name]
    names = [kind.name for kind in kinds]
    for place, each in enumerate(names):
        if each in names[:place]:
            raise ConfigError(f"`clients[{place}].name`: {each!r} is named twice")
    return kinds


def trace_runs(config: SimConfig) -> bool:
    """Whether a trace's own requests are sent, at its own pace; else it lends its arrivals at most."""
    return bool(config.traces) and config.arrivals != "trace"


def _refuse_beside_a_trace(config: SimConfig) -> None:
    for key in ("workload", "clients", "arrivals"):
        if getattr(config, key):
            raise ConfigError(
                f"`{key}`: the trace says what is asked and when; to have its arrivals alone, set `arrivals` to `trace`"
            )


def law_of(config: SimConfig) -> Arrivals | None:
    """The law that replaces the clients' own, if one is named."""
    return None if config.arrivals is None or config.arrivals == "trace" else Arrivals(law=config.arrivals)


def sim_trace(config: SimConfig) -> Trace | None:
    """The part of the trace that is asked for, if one is named. Raises ConfigError when it cannot be opened or read."""
    if not config.traces:
        return None
    try:
        whole = trace_files(config.traces, lenient=config.lenient, timed=_timed_trace(config))
        wanted = of_model(whole, config.trace_model) if config.trace_model else whole
        part = _part(wanted, config)
        if config.repeat * len(part.rows) > MOST_REQUESTS:
            raise ConfigError(f"`repeat`: {config.repeat * len(part.rows):,} requests are more than {MOST_REQUESTS:,}")
        return repeated(part, config.repeat)
    except TraceError as error:
        raise ConfigError(f"`trace`: {error}") from None


def _timed_trace(config: SimConfig) -> TimedTraceFormat | None:
    if config.trace_block_tokens is None and config.trace_unit is None:
        return None
    return TimedTraceFormat(config.trace_block_tokens or TOKENS_PER_BLOCK, 1e-3 if config.trace_unit == "ms" else 1.0)


def _part(trace: Trace, config: SimConfig) -> Trace:
    half = len(trace.rows) // 2
    begin, end = {"all": (0, None), "first_half": (0, half), "second_half": (half, None)}[config.part]
    half_trace = part_of(trace, begin, end)
    return part_of(half_trace, config.from_request, config.requests_count)


def check_pace(config: SimConfig) -> None:
    """Whether the settings say how fast requests come, and only once. Raises ConfigError."""
    given = [key for key in ("rate", "rate_factor", "load") if getattr(config, key) is not None]
    if len(given) > 1:
        raise ConfigError(f"`{given[1]}`: how fast requests come is said by `{given[0]}` already")
    if trace_runs(config) and config.load is not None:
        raise ConfigError("`load`: a trace has its own pace: leave it out, or say `rate` or `rate_factor`")
    if not trace_runs(config) and config.rate_factor is not None:
        raise ConfigError("`rate_factor`: there is no trace whose pace it could change")


def check_size(config: SimConfig, rate: float) -> None:
    """Whether the requests of so many seconds at `rate` can be planned. Raises ConfigError."""
    requests = rate * config.seconds
    if requests > MOST_REQUESTS:
        key = "seconds" if config.rate is None else "rate"
        raise ConfigError(f"`{key}`: {requests:.3g} requests are too many; up to {MOST_REQUESTS:,} can be planned")


def check_trace_settings(config: SimConfig) -> None:
    """Whether there is a trace where settings speak of one. Raises ConfigError."""
    usual = SimConfig()
    for key in OF_TRACES:
        if not config.traces and getattr(config, key) != getattr(usual, key):
            raise ConfigError(f"`{key}`: there is no trace that it could concern; name one by `trace`")
