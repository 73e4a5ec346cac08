"""The one place that opens traces."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from pointsman.config.flags import ConfigError
from pointsman.workload.recording import as_trace
from pointsman.workload.recording_line import Recorded
from pointsman.workload.rows import Trace, TraceError
from pointsman.workload.timed_trace import TimedTraceFormat
from pointsman.workload.traces import read_recordings, read_trace


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


def trace_files(paths: Sequence[str], *, lenient: bool, timed: TimedTraceFormat | None = None) -> Trace:
    """The trace in a file, or that of several, which then must be recordings. Raises ConfigError, TraceError."""
    if len(paths) == 1:
        return trace_file(paths[0], lenient=lenient, timed=timed)
    lines, problems = recordings(paths, lenient=lenient)
    return as_trace(f"{len(paths)} recordings", lines, len(problems), problems[0] if problems else "")


def recordings(paths: Sequence[str], *, lenient: bool) -> tuple[list[Recorded], list[str]]:
    """The lines of recordings, and what was wrong with those that were skipped. Raises ConfigError, TraceError."""
    with ExitStack() as files:
        try:
            opened = {path: files.enter_context(Path(path).open(encoding="utf-8")) for path in paths}
            return read_recordings(opened, lenient=lenient)
        except OSError as error:
            raise ConfigError(f"`recordings`: {error.filename}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise TraceError(f"not a text file: {error.reason}") from error
