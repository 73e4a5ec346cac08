"""Writes what came of every request, as a line of `workload.recording`: traffic to be replayed elsewhere.

Strategy: on the data path a fact costs a dictionary entry and the end of a request one more in a list. A thread takes
the list every second, makes lines of it and writes them. It lets go of the interpreter with each write, so it writes a
few lines at a time: a stream waits for it a fraction of a millisecond. If the disk stands still, requests beyond
a bound are not recorded; if it fails, the recording ends there. Requests go on either way.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from pointsman.brain.model.facts import Ended, FirstToken, Placed, Queued, Refused
from pointsman.brain.model.outcome import UNSERVED
from pointsman.observe.recorded_line import NO_TRY, Life, Lines, Try
from pointsman.observe.subscriber import Subscriber

MOST_PENDING = 10_000
"""Requests that may wait to be written: some seconds of a busy gateway."""
EVERY_SECONDS = 1.0
LINES_AT_ONCE = 16
"""A line with forty hashes is 10 to 20 µs of work."""

Sink = Callable[[bytes], Any]
"""Takes whole lines."""

_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("pointsman")


class Recorder(Subscriber):
    """A subscriber to facts that hands lines to `sink` when told to `flush`, oldest ending first.

    `epoch` is the Unix time of the clock's zero; `secret` makes hashes that nobody else can make. Requests that are
    over while `most_pending` wait to be written are counted in `dropped`, and left out.
    """

    def __init__(
        self, sink: Sink, *, epoch: float = 0.0, secret: bytes = b"", most_pending: int = MOST_PENDING
    ) -> None:
        self._sink: Sink | None = sink
        self._most_pending = most_pending
        self._lines = Lines(epoch, secret)
        self._queued_at: dict[int, float] = {}
        self._tries: dict[int, Placed] = {}
        self._ttft: dict[int, float] = {}
        self._failed: dict[int, Try] = {}
        self._over: deque[Life] = deque()
        self.dropped = 0
        self.handlers = {
            Queued: self._queued,
            Placed: self._placed,
            FirstToken: self._first_token,
            Ended: self._ended,
            Refused: self._refused,
        }

    def flush(self) -> None:
        """Write what is over. For one thread at a time, which need not be the one that facts come from."""
        while self._over:
            self._write([self._over.popleft() for _ in range(min(len(self._over), LINES_AT_ONCE))])

    def _write(self, lives: list[Life]) -> None:
        if self._sink is None:
            return
        try:
            self._sink(b"".join([_encode(self._lines.of(life)) + b"\n" for life in lives]))
        except OSError as error:
            self._sink = None
            _log.error("the recording ends here: %s", error)

    # Facts

    def _queued(self, fact: Queued) -> None:
        self._queued_at.setdefault(fact.ticket, fact.now)

    def _placed(self, fact: Placed) -> None:
        self._tries[fact.lease] = fact

    def _first_token(self, fact: FirstToken) -> None:
        self._ttft[fact.lease] = fact.ttft_s

    def _ended(self, fact: Ended) -> None:
        last = Try(self._tries.pop(fact.lease, None), self._ttft.pop(fact.lease, None), fact)
        self._queued_at.pop(fact.ticket, None)
        failed = fact.outcome.verdict in UNSERVED and not fact.outcome.delivered
        if failed or not fact.final:  # a further try or a refusal follows
            self._failed[fact.ticket] = last
        else:
            self._failed.pop(fact.ticket, None)
            self._end(Life(last.submitted(fact.now), last))

    def _refused(self, fact: Refused) -> None:
        last = self._failed.pop(fact.ticket, NO_TRY)
        self._end(Life(last.submitted(self._queued_at.pop(fact.ticket, fact.now)), last, fact))

    def _end(self, life: Life) -> None:
        if len(self._over) < self._most_pending:
            self._over.append(life)
            return
        if not self.dropped:
            _log.error("the recording leaves out requests: its disk is too slow")
        self.dropped += 1


class Flushed(Protocol):
    """Something that gathers what another thread is to write."""

    def flush(self) -> None: ...


class Flushing(threading.Thread):
    """Flushes `recorder` every second until closed, then once more."""

    def __init__(self, recorder: Flushed) -> None:
        super().__init__(name="recording", daemon=True)
        self._recorder = recorder
        self._closed = threading.Event()

    def run(self) -> None:
        while not self._closed.wait(EVERY_SECONDS):
            self._recorder.flush()
        self._recorder.flush()

    def close(self) -> None:
        """Returns when all is written."""
        self._closed.set()
        self.join()
