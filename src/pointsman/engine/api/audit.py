"""What happened to every request, for tests and for people: kept in memory and, if asked, as JSON lines in a file."""

from collections import deque
from typing import Any, BinaryIO

import msgspec

from pointsman.clock import unix_seconds

KEPT = 100_000


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One moment in a request's life. `virtual` counts engine seconds, `wall` is unix time.

    `event` is start, first (event of a stream sent), then finish (all of it was sent) or abort (anything else).
    """

    event: str
    request_id: str
    attempt: str = ""
    virtual: float
    wall: float
    path: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    bytes_sent: int = 0


class Audit:
    """Records of one engine. Keeps the last `KEPT`; the file keeps all."""

    def __init__(self, path: str | None = None) -> None:
        self.records: deque[AuditRecord] = deque(maxlen=KEPT)
        self._file: BinaryIO | None = open(path, "ab") if path else None  # noqa: SIM115 - open as long as the engine

    def write(self, event: str, request_id: str, virtual: float, **details: Any) -> None:
        record = AuditRecord(event=event, request_id=request_id, virtual=virtual, wall=unix_seconds(), **details)
        self.records.append(record)
        if self._file is not None:
            self._file.write(msgspec.json.encode(record) + b"\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
