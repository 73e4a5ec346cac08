"""`pointsman sim replay`: what recorded traffic came to, and what it would come to under other policies."""

from collections.abc import Sequence

import numpy as np
from rich.console import Console

from pointsman.config.flags import ConfigError
from pointsman.config.sim_replay import SimReplayConfig, check_recordings
from pointsman.config.traces import recordings
from pointsman.simulate.main import compare
from pointsman.workload.recording_line import Recorded
from pointsman.workload.rows import TraceError


def replay(config: SimReplayConfig) -> int:
    """Returns the exit status. Raises ConfigError when a setting cannot be used."""
    check_recordings(config)
    try:
        lines, _ = recordings(config.recordings, lenient=config.lenient)
    except TraceError as error:
        raise ConfigError(f"`recordings`: {error}") from None
    err = Console(stderr=True)
    err.print(recorded(lines), markup=False, highlight=False, soft_wrap=True)
    if not config.node and config.fleet == SimReplayConfig().fleet:
        hint = f"Simulated is the preset {config.fleet}: name your fleet by --fleet or --config."
        err.print(hint, markup=False, highlight=False, soft_wrap=True)
    return compare(config)


def recorded(lines: Sequence[Recorded]) -> str:
    """What the recording itself tells of its requests, in a sentence."""
    ok = [one for one in lines if one.outcome == "ok" and one.status < 400]
    first = [one.ttft_ms / 1000 for one in ok if one.ttft_ms is not None]
    whole = [one.total_ms / 1000 for one in ok if one.total_ms is not None]
    told = [one for one in ok if one.cached_length is not None]
    parts = [f"success {len(ok) / len(lines):.1%}"]
    for name, values in (("TTFT", first), ("E2E", whole)):
        if values:
            parts.append(f"{name} mean {np.mean(values):.2f} s, P99 {np.quantile(values, 0.99):.2f} s")
    if told:
        hits = sum(one.cached_length or 0 for one in told) / sum(one.input_length for one in told)
        parts.append(f"hits {hits:.0%}")
    nodes = len({one.node for one in lines if one.node})
    return f"Recorded: {len(lines)} requests on {nodes} nodes; {'; '.join(parts)}."
