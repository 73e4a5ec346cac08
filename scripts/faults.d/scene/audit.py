"""The engines' own records of every request: when it started, got its first token, finished or was aborted."""

from collections.abc import Iterable
from pathlib import Path

import msgspec


class Record(msgspec.Struct, frozen=True):
    """One line of an audit log. `wall` is unix time."""

    event: str
    request_id: str
    wall: float
    attempt: str = ""
    completion_tokens: int = 0


class Audits:
    """Reads the audit logs of several engines as they grow."""

    def __init__(self, logs: dict[str, Path]) -> None:
        self._logs = logs
        self._read = dict.fromkeys(logs, 0)
        self.records: dict[str, list[tuple[str, Record]]] = {}
        """(engine, record) by request id, in order of time."""

    def refresh(self) -> None:
        """Take in what was written since."""
        new = [(engine, record) for engine, path in self._logs.items() for record in self._new(engine, path)]
        for engine, record in sorted(new, key=lambda each: each[1].wall):
            self.records.setdefault(record.request_id, []).append((engine, record))

    def of(self, request_id: str) -> list[tuple[str, Record]]:
        return self.records.get(request_id, [])

    def engine_of(self, request_id: str) -> str:
        """The engine that started it last; empty if none did."""
        started = [engine for engine, record in self.of(request_id) if record.event == "start"]
        return started[-1] if started else ""

    def ended(self, request_id: str, event: str) -> float | None:
        """When it was last told to `finish` or `abort`, or None."""
        moments = [record.wall for _, record in self.of(request_id) if record.event == event]
        return moments[-1] if moments else None

    def running(self, dead: str = "") -> list[str]:
        """Requests started more often than ended; what the engine `dead` took with it does not count."""
        return [
            each
            for each, records in self.records.items()
            if _count(records, "start") - self.lost(each, dead) > _ends(records)
        ]

    def lost(self, request_id: str, engine: str) -> bool:
        """Whether the engine started it and never told of its end."""
        records = [(where, record) for where, record in self.of(request_id) if where == engine]
        return _count(records, "start") > _ends(records)

    def tally(self, request_ids: Iterable[str]) -> dict[str, int]:
        """How many of these were aborted, finished or never started by any engine."""
        counts = {"aborted": 0, "finished": 0, "never started": 0, "still running": 0}
        for each in request_ids:
            counts[_fate(self.of(each))] += 1
        return counts

    def _new(self, engine: str, path: Path) -> list[Record]:
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(self._read[engine])
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read[engine] += len(whole)
        return [msgspec.json.decode(line, type=Record) for line in whole.splitlines()]


def _fate(records: list[tuple[str, Record]]) -> str:
    if not _count(records, "start"):
        return "never started"
    if _count(records, "start") > _ends(records):
        return "still running"
    return "finished" if _count(records, "finish") else "aborted"


def _ends(records: list[tuple[str, Record]]) -> int:
    return _count(records, "finish") + _count(records, "abort")


def _count(records: list[tuple[str, Record]], event: str) -> int:
    return sum(record.event == event for _, record in records)
