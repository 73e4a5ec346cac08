"""The one place that opens traces."""

from pathlib import Path

from pointsman.config.flags import ConfigError
from pointsman.workload.rows import Trace, TraceError
from pointsman.workload.timed_trace import TimedTraceFormat
from pointsman.workload.traces import read_trace


def trace_file(path: str, *, lenient: bool, timed: TimedTraceFormat | None = None) -> Trace:
    """The trace in the file `path`, a setting named `trace`; `timed` as in `read_trace`.

    Raises ConfigError when it cannot be opened, TraceError when it cannot be read.
    """
    try:
        with Path(path).open(encoding="utf-8") as lines:
            return read_trace(lines, Path(path).name, lenient=lenient, timed=timed)
    except OSError as error:
        raise ConfigError(f"`trace`: {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}: not a text file: {error.reason}") from error
