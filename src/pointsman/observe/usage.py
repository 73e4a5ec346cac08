"""Writes a usage record for every request that is over: who had what, to be billed or added up elsewhere.

Strategy: one line a request, however many nodes it took: a resumed answer is one. The engine's own count is what
counts; where no usage came (the client left, the engine tells none) tokens are those that were seen to come, and
the record says so. On the data path a fact costs a dictionary entry; lines are made and written by a thread
(`recording.Flushing`). What cannot be written is counted in the log; requests go on.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from pointsman.brain.model.facts import Ended, FirstToken, Interrupted, Placed, Queued, Refused
from pointsman.brain.model.outcome import CANCELLED, UNSERVED, Outcome, Verdict
from pointsman.observe.subscriber import Subscriber

MOST_PENDING = 100_000
"""Records that may wait to be written: some hundred bytes each."""
LINES_AT_ONCE = 64

_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("pointsman")


class UsageRecord(msgspec.Struct, frozen=True, gc=False):
    """One request. `time` is Unix seconds of its arrival; `ttft_s`, `waited_s` and `seconds` count from there.

    `outcome`: ok, fail, cancelled, or refused, with the `reason` in a word. `counted_by`: "engine", or "events" where
    it told no usage: then the answer's tokens are those that came, and the prompt's an estimate. `interruptions`: how
    often the answer went on elsewhere; `node`: the last one, "" for none.
    """

    time: float
    request_id: str
    tenant: str
    model: str
    node: str
    outcome: str
    reason: str
    status: int
    cancelled: bool
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    counted_by: Literal["engine", "events"]
    waited_s: float | None
    ttft_s: float | None
    seconds: float
    interruptions: int


class _Life(msgspec.Struct, gc=False):
    """What is known of a request under way, on the dispatcher's clock."""

    arrived: float
    waited_s: float | None = None
    ttft_s: float | None = None
    prompt_tokens: float = 0.0
    delivered_tokens: int = 0
    interruptions: int = 0
    node: str = ""


class UsageLog(Subscriber):
    """A subscriber to facts that hands lines to `sink` when told to `flush`, in the order in which requests ended.

    `epoch` is the Unix time of the clock's zero. Records beyond `most_pending` unwritten ones are lost, and counted in
    `lost`.
    """

    def __init__(self, sink: Callable[[bytes], Any], *, epoch: float = 0.0, most_pending: int = MOST_PENDING) -> None:
        self._sink = sink
        self._epoch = epoch
        self._most_pending = most_pending
        self._lives: dict[int, _Life] = {}
        self._tickets: dict[int, int] = {}
        self._over: deque[UsageRecord] = deque()
        self._failing = False
        self.lost = 0
        self.handlers = {
            Queued: self._queued,
            Placed: self._placed,
            FirstToken: self._first_token,
            Interrupted: self._interrupted,
            Ended: self._ended,
            Refused: self._refused,
        }

    def flush(self) -> None:
        """Write what is over. For one thread at a time, which need not be the one that facts come from."""
        while self._over:
            records = [self._over[place] for place in range(min(len(self._over), LINES_AT_ONCE))]
            try:
                self._sink(b"".join([_encode(record) + b"\n" for record in records]))
            except OSError as error:
                self._fails(error)
                return
            self._failing = False
            for _ in records:
                self._over.popleft()

    def _fails(self, error: OSError) -> None:
        """They are tried again with the next flush: a full disk may be cleared."""
        if not self._failing:
            _log.error("usage records cannot be written and wait: %s", error)
        self._failing = True

    # Facts

    def _queued(self, fact: Queued) -> None:
        if fact.ticket not in self._lives:
            self._lives[fact.ticket] = _Life(fact.now)

    def _placed(self, fact: Placed) -> None:
        life = self._lives.get(fact.ticket)
        if life is None:
            life = self._lives[fact.ticket] = _Life(fact.now - fact.waited_s)
        if life.waited_s is None:
            life.waited_s, life.prompt_tokens = fact.waited_s, fact.prompt_tokens
        life.node = fact.node
        self._tickets[fact.lease] = fact.ticket

    def _first_token(self, fact: FirstToken) -> None:
        life = self._lives.get(self._tickets.get(fact.lease, 0))
        if life is not None:
            life.ttft_s = fact.ttft_s

    def _interrupted(self, fact: Interrupted) -> None:
        life = self._lives.get(fact.ticket)
        if life is not None:
            life.interruptions += fact.resumed
            life.delivered_tokens = fact.tokens

    def _ended(self, fact: Ended) -> None:
        self._tickets.pop(fact.lease, None)
        outcome = fact.outcome
        refused_next = outcome.verdict in UNSERVED and not outcome.delivered
        if not fact.final or refused_next:  # another try, or a refusal, follows
            return
        life = self._lives.pop(fact.ticket, None) or _Life(fact.now - fact.seconds)
        self._end(self._record(fact, life, str(outcome.verdict), outcome, fact.tokens))

    def _refused(self, fact: Refused) -> None:
        life = self._lives.pop(fact.ticket, None) or _Life(fact.now)
        left = fact.status == CANCELLED.status
        verdict = Verdict.CANCELLED if left else Verdict.FAIL
        outcome = Outcome(verdict=verdict, reason=fact.code, status=fact.status, delivered=False)
        if life.ttft_s is None:
            life.prompt_tokens = 0.0  # nothing came of it
        self._end(self._record(fact, life, "cancelled" if left else "refused", outcome, life.delivered_tokens))

    def _record(self, fact: Ended | Refused, life: _Life, word: str, outcome: Outcome, seen: int) -> UsageRecord:
        engine = bool(outcome.completion_tokens or outcome.prompt_tokens)
        return UsageRecord(
            time=self._epoch + life.arrived,
            request_id=fact.request.id,
            tenant=fact.request.tenant,
            model=fact.request.model,
            node=life.node,
            outcome=word,
            reason=outcome.reason,
            status=outcome.status,
            cancelled=outcome.verdict is Verdict.CANCELLED,
            prompt_tokens=outcome.prompt_tokens or round(life.prompt_tokens),
            completion_tokens=outcome.completion_tokens if engine else seen,
            cached_tokens=outcome.cached_tokens,
            counted_by="engine" if engine else "events",
            waited_s=life.waited_s,
            ttft_s=life.ttft_s,
            seconds=fact.now - life.arrived,
            interruptions=life.interruptions,
        )

    def _end(self, record: UsageRecord) -> None:
        if len(self._over) < self._most_pending:
            self._over.append(record)
            return
        if not self.lost:
            _log.error("usage records are lost: %d wait to be written", len(self._over))
        self.lost += 1
