"""Reading a trace whose format its first line betrays, and fitting it to a fleet.

Pure: lines come from the caller, who opened the file; `name` is only for messages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Protocol, TypeVar

import msgspec

from .azure import AzureFormat
from .bailian import BailianFormat
from .burstgpt import BurstGptFormat
from .columns import split
from .mooncake import TOKENS_PER_BLOCK as MOONCAKE_TOKENS
from .mooncake import MooncakeFormat
from .recording import as_trace
from .recording_line import FIELDS, Recorded, recorded
from .rows import FormatName, Trace, TraceError, TraceRow
from .spread import spread_evenly
from .timed_trace import TimedTraceFormat
from .wording import in_words

KNOWN = "Azure csv, BurstGPT csv, Mooncake jsonl, Bailian jsonl, vLLM's timed_trace jsonl, our own recording"
Row = TypeVar("Row")


class TraceFormat(Protocol):
    """One published format. `coarse`: its stamps are buckets, so equal ones are spread."""

    name: FormatName
    coarse: bool

    def parse(self, line: str) -> TraceRow: ...


class _Recording:
    """Our own recordings, whose rows make sense together only."""


def read_trace(
    lines: Iterable[str], name: str, *, lenient: bool = False, timed: TimedTraceFormat | None = None
) -> Trace:
    """Every request of the trace, in order of arrival, the first at second 0.

    Lines with the fields of Mooncake are read as `timed` says, if it is given; without it, as vLLM's where the first
    has more ids than blocks of 512 tokens.

    A bad row raises TraceError naming file and line; with `lenient` it is skipped and counted. A file of no known
    format, or without a single good row, raises TraceError either way.
    """
    numbered = _filled(lines)
    first = next(numbered, None)
    if first is None:
        raise TraceError(f"{name}: the file is empty")
    fmt, body = _opened(first, numbered, name, timed)
    if isinstance(fmt, _Recording):
        requests, problems = _good(recorded, body, name, lenient)
        return as_trace(name, requests, *_skipped(problems))
    rows, problems = _good(fmt.parse, body, name, lenient)
    return Trace(name, fmt.name, _timed(rows, fmt.coarse), *_skipped(problems))


def read_recordings(files: Mapping[str, Iterable[str]], *, lenient: bool = False) -> tuple[list[Recorded], list[str]]:
    """Every request of recordings, `files` being their lines by name, and what was wrong with rows that were skipped.

    Raises TraceError like `read_trace`, also for a file that is no recording.
    """
    found: list[Recorded] = []
    problems: list[str] = []
    for name, lines in files.items():
        rows, bad = _good(recorded, _filled(lines), name, lenient)
        found += rows
        problems += bad
    return found, problems


def of_model(trace: Trace, model: str) -> Trace:
    """The requests for `model`, at their own moments. Raises TraceError if there are none, naming the models."""
    rows = tuple(row for row in trace.rows if row.model == model)
    if not rows:
        known = sorted({row.model for row in trace.rows if row.model})
        raise TraceError(f"{trace.name}: no request for {model!r}; there are: {', '.join(known) or 'no models'}")
    return msgspec.structs.replace(trace, rows=rows)


def leading(trace: Trace, rows: int) -> Trace:
    """The first `rows` requests of the trace."""
    return msgspec.structs.replace(trace, rows=trace.rows[:rows])


def part_of(trace: Trace, first: int, count: int | None) -> Trace:
    """`count` requests (None: all) from number `first`, from 0, on; the first of them arrives at second 0.

    Raises TraceError where the trace has none of these.
    """
    rows = trace.rows[first : None if count is None else first + count]
    if not rows:
        raise TraceError(f"{trace.name}: nothing is left of its {len(trace.rows)} requests from number {first} on")
    begin = rows[0].arrival_s
    shifted = tuple(msgspec.structs.replace(row, arrival_s=row.arrival_s - begin) for row in rows)
    return msgspec.structs.replace(trace, rows=shifted)


def repeated(trace: Trace, times: int) -> Trace:
    """The trace so many times, one after the other at the same mean rate; equal prompts stay equal.

    A session of a later turn of the trace is another session.
    """
    lasts = trace.seconds * len(trace.rows) / max(1, len(trace.rows) - 1)
    rows = tuple(_again(row, lap, lap * lasts) for lap in range(times) for row in trace.rows)
    return msgspec.structs.replace(trace, rows=rows)


def _again(row: TraceRow, lap: int, later: float) -> TraceRow:
    if not lap:
        return row
    session = f"{row.session}+{lap}" if row.session else ""
    return msgspec.structs.replace(row, arrival_s=row.arrival_s + later, session=session)


def at_rate(trace: Trace, requests_per_second: float) -> Trace:
    """The same requests with all gaps stretched or squeezed alike, so that their mean rate is the given one.

    Raises TraceError if all requests arrive at one instant: no stretching gives those a rate.
    """
    if trace.seconds <= 0:
        raise TraceError(f"{trace.name}: {len(trace.rows)} requests at one instant have no rate to scale")
    factor = len(trace.rows) / (trace.seconds * requests_per_second)
    rows = tuple(msgspec.structs.replace(row, arrival_s=row.arrival_s * factor) for row in trace.rows)
    return msgspec.structs.replace(trace, rows=rows)


def _filled(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines that hold something, with their number in the file, from 1."""
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _opened(
    first: tuple[int, str], rest: Iterator[tuple[int, str]], name: str, timed: TimedTraceFormat | None
) -> tuple[TraceFormat | _Recording, Iterator[tuple[int, str]]]:
    """The format and the lines that carry rows: a csv header is none of them, a first JSON line is."""
    number, line = first
    if line.lstrip("\ufeff \t").startswith("{"):
        return _json_format(line, f"{name}, line {number}", timed), chain([first], rest)
    header = split(line)
    for fmt in (AzureFormat, BurstGptFormat):
        if fmt.recognises(header):
            return fmt(header), rest
    raise TraceError(f"{name}, line {number}: {line.strip()[:80]!r} begins no known format ({KNOWN})")


def _json_format(line: str, where: str, timed: TimedTraceFormat | None) -> TraceFormat | _Recording:
    try:
        first = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:  # the latter for JSON nested too deeply
        raise TraceError(f"{where}: {in_words(error)}") from None
    if "chat_id" in first:
        return BailianFormat()
    if first.keys() >= FIELDS:
        return _Recording()
    if {"timestamp", "input_length", "output_length"} <= first.keys():
        return timed or (TimedTraceFormat() if _small_blocks(first) else MooncakeFormat())
    raise TraceError(f"{where}: fields {', '.join(sorted(first))} fit no known format ({KNOWN})")


def _small_blocks(first: dict[str, object]) -> bool:
    """Whether a prompt has more ids than it has blocks of Mooncake's size."""
    tokens, ids = first["input_length"], first.get("hash_ids")
    return isinstance(tokens, int) and isinstance(ids, list) and len(ids) > -(-tokens // MOONCAKE_TOKENS)


def _good(
    parse: Callable[[str], Row], body: Iterable[tuple[int, str]], name: str, lenient: bool
) -> tuple[list[Row], list[str]]:
    """All rows that can be read, at least one, and what is wrong with the others. Raises TraceError."""
    rows: list[Row] = []
    problems: list[str] = []
    for number, line in body:
        try:
            rows.append(parse(line))
        except (ValueError, RecursionError) as error:
            problems.append(f"{name}, line {number}: {in_words(error)}")
            if not lenient:
                doubt = "" if rows else "is it the file you mean? "
                raise TraceError(f"{problems[0]}; {doubt}--lenient skips and counts such rows") from error
    if not rows:
        raise TraceError(f"{name}: not one readable row" + (f"; the first problem: {problems[0]}" if problems else ""))
    return rows, problems


def _skipped(problems: list[str]) -> tuple[int, str]:
    """How many, and the first."""
    return len(problems), problems[0] if problems else ""


def _timed(rows: list[TraceRow], coarse: bool) -> tuple[TraceRow, ...]:
    """Rows in order of arrival with the first at 0 and, for coarse stamps, spread inside their buckets."""
    rows.sort(key=lambda row: row.arrival_s)
    stamps = [row.arrival_s - rows[0].arrival_s for row in rows]
    arrivals = spread_evenly(stamps) if coarse else stamps
    return tuple(msgspec.structs.replace(row, arrival_s=at) for row, at in zip(rows, arrivals, strict=True))
