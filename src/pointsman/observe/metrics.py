"""Counts what happened, one fact at a time.

Strategy: facts arrive on the data path, scrapes do not. So a fact costs a few dictionary look-ups and additions on
plain attributes (half a microsecond), and everything Prometheus wants (names, labels, cumulative buckets) is made at
scrape time, in `exposition.py`. What belongs to one model on one node is kept together in a `Lane`, found by one
look-up. There is counted, too, how nearly all requests end, and joins the families of endings when these are read; so
does a decision like the one before. The series of a node that is gone are dropped, so a fleet that comes and goes does
not grow the page for ever.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from pointsman.brain.life.resume import EMPTIED
from pointsman.brain.model.facts import (
    CacheReported,
    Decided,
    Emptied,
    Ended,
    Fact,
    FedBack,
    FirstToken,
    Instructed,
    Interrupted,
    LoadUnknown,
    NodeChanged,
    PanicChanged,
    Placed,
    PolicyChanged,
    PolicyRaised,
    ProbeFailed,
    Queued,
    Refused,
    ResidencyChanged,
    Resumed,
    RoomMade,
    Warmed,
)
from pointsman.brain.model.outcome import UNSERVED, Verdict
from pointsman.observe.by_tenant import TenantLabels, Tenants
from pointsman.observe.families import SECONDS, TOKEN_SECONDS, WAIT_SECONDS
from pointsman.observe.histogram import Histogram

Counts = defaultdict[tuple[str, ...], int]
FORWARD = "forward"  # the reason word of a request sent to the cache against the best score
GONE = "gone"
REFUSED = "refused"
OK, DONE = Verdict.OK, "done"  # how nearly all requests end


class Lane:
    """One model on one node."""

    __slots__ = (
        "cached_tokens",
        "completion_tokens",
        "done",
        "duration",
        "forwards",
        "predicted_tokens",
        "prompt_tokens",
        "resume_gap",
        "retries",
        "tpot",
        "ttft",
    )

    def __init__(self) -> None:
        self.ttft = Histogram(SECONDS)
        self.tpot = Histogram(TOKEN_SECONDS)
        self.duration = Histogram(SECONDS)
        self.resume_gap = Histogram(SECONDS)
        self.prompt_tokens = self.cached_tokens = self.completion_tokens = 0
        self.predicted_tokens = 0.0
        self.forwards = self.retries = 0
        self.done = 0  # requests that ended as nearly all do, and are not among the families of endings yet


class Metrics:
    """A subscriber to facts; `metrics(fact)` counts it. Read the attributes, or expose them with `exposition`.

    `tenants` tells those that are configured now: only they are counted by name.
    """

    def __init__(self, tenants: Tenants = tuple) -> None:
        self._labels = TenantLabels(tenants)
        self.tenant_requests: Counts = defaultdict(int)
        self.tenant_prompt: Counts = defaultdict(int)
        self.tenant_cached: Counts = defaultdict(int)
        self.tenant_completion: Counts = defaultdict(int)
        self.tenant_waits: Counts = defaultdict(int)
        self.lanes: defaultdict[tuple[str, ...], Lane] = defaultdict(Lane)
        self.waits: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(WAIT_SECONDS))
        self.expected: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(WAIT_SECONDS))
        self.expected_errors: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(WAIT_SECONDS))
        self._requests: Counts = defaultdict(int)
        self._tries: Counts = defaultdict(int)
        self.interruptions: Counts = defaultdict(int)
        self.room_made: Counts = defaultdict(int)
        self.refused: Counts = defaultdict(int)
        self.queued: Counts = defaultdict(int)
        self._decisions: Counts = defaultdict(int)
        self._policy, self._reason, self._alike = "", "", 0
        self.transitions: Counts = defaultdict(int)
        self.probe_failures: Counts = defaultdict(int)
        self.load_unknown: Counts = defaultdict(int)
        self.feedback: Counts = defaultdict(int)
        self.kv_batches, self.kv_gaps, self.kv_lost, self.kv_resets = _no_events()
        self.warmups: Counts = defaultdict(int)
        self.warmup_tokens: Counts = defaultdict(int)
        self.kv_orders: Counts = defaultdict(int)
        self.kv_order_blocks: Counts = defaultdict(int)
        self.kv_lost_links: Counts = defaultdict(int)
        self.residency_changes: Counts = defaultdict(int)
        self.panics: Counts = defaultdict(int)
        self.policy_errors: Counts = defaultdict(int)
        self.policy_changes: Counts = defaultdict(int)
        self.continuation_probes: Counts = defaultdict(int)
        self.config_reloads: Counts = defaultdict(int, {("ok",): 0, ("failed",): 0})
        self.configured_at = 0.0
        self._due: dict[int, float] = {}
        self.handlers: dict[type, Callable[[Any], None]] = {
            Decided: self._decided,
            Placed: self._placed,
            Queued: self._queued,
            FirstToken: self._first_token,
            Ended: self._ended,
            Interrupted: self._interrupted,
            Resumed: self._resumed,
            RoomMade: self._room_made,
            Emptied: self._emptied,
            Refused: self._refused,
            Warmed: self._warmed,
            Instructed: self._instructed,
            ResidencyChanged: self._residency_changed,
            NodeChanged: self._node_changed,
            ProbeFailed: self._probe_failed,
            LoadUnknown: self._load_unknown,
            FedBack: self._fed_back,
            CacheReported: self._cache_reported,
            PanicChanged: self._panic_changed,
            PolicyChanged: self._policy_changed,
            PolicyRaised: self._policy_raised,
        }

    def __call__(self, fact: Fact) -> None:
        self.handlers[type(fact)](fact)

    @property
    def decisions(self) -> Counts:
        """By policy and reason."""
        self._count_decisions()
        return self._decisions

    @property
    def requests(self) -> Counts:
        """Those that ended, by model, node and verdict."""
        self._count_done()
        return self._requests

    @property
    def tries(self) -> Counts:
        """Those that ended, by model, node, verdict and reason."""
        self._count_done()
        return self._tries

    def reloaded(self, well: bool, unix_seconds: float) -> None:
        """The configuration was read again, and applied if it could be: no fact of the brain's, but counted here."""
        self.config_reloads[("ok" if well else "failed",)] += 1
        if well:
            self.configured_at = unix_seconds

    def continuation_probed(self, model: str, engine: str, result: str) -> None:
        """It was tried whether a kind of engine continues chats faithfully: no fact, but counted here."""
        self.continuation_probes[model, engine, result] += 1

    def _decided(self, fact: Decided) -> None:
        policy, reason = fact.policy, fact.answer.reason
        if reason != self._reason or policy != self._policy:
            self._count_decisions()
            self._policy, self._reason = policy, reason
        self._alike += 1

    def _count_decisions(self) -> None:
        if self._alike:
            self._decisions[self._policy, self._reason] += self._alike
            self._alike = 0

    def _count_done(self) -> None:
        for (model, node), lane in self.lanes.items():
            if lane.done:
                self._requests[model, node, OK] += lane.done
                self._tries[model, node, OK, DONE] += lane.done
                lane.done = 0

    def _placed(self, fact: Placed) -> None:
        model = fact.request.model
        lane = self.lanes[model, fact.node]
        lane.predicted_tokens += fact.overlap_tokens
        if fact.reason == FORWARD:
            lane.forwards += 1
        if fact.attempt == 1:
            self.waits[model].observe(fact.waited_s)
        else:
            lane.retries += 1
        if self._due and (due := self._due.pop(fact.ticket, None)) is not None:
            self.expected_errors[model].observe(abs(fact.now - due))

    def _queued(self, fact: Queued) -> None:
        self.queued[(fact.request.model,)] += 1
        if fact.expected_s is not None:
            self.expected[fact.request.model].observe(fact.expected_s)
            self._due[fact.ticket] = fact.now + fact.expected_s
        if label := self._labels.of(fact.request.tenant):
            self.tenant_waits[(label,)] += 1

    def _first_token(self, fact: FirstToken) -> None:
        self.lanes[fact.request.model, fact.node].ttft.observe(fact.ttft_s)

    def _ended(self, fact: Ended) -> None:
        model, node, outcome = fact.request.model, fact.node, fact.outcome
        lane = self.lanes[model, node]
        lane.prompt_tokens += outcome.prompt_tokens
        lane.completion_tokens += outcome.completion_tokens
        lane.cached_tokens += outcome.cached_tokens or 0
        if fact.tpot_s is not None:
            lane.tpot.observe(fact.tpot_s)
        if fact.final:
            lane.duration.observe(fact.whole_s)
        if fact.final and outcome.verdict is OK and outcome.reason == DONE:
            lane.done += 1
        else:
            self._tries[model, node, outcome.verdict, outcome.reason] += 1
            if fact.final:
                self._requests[model, node, outcome.verdict] += 1
        if label := self._labels.of(fact.request.tenant):
            self._of_tenant(label, fact)

    def _of_tenant(self, label: str, fact: Ended) -> None:
        """Only what was delivered is the tenant's; one that no node answered ends with a refusal."""
        outcome = fact.outcome
        if not fact.final or (outcome.verdict in UNSERVED and not outcome.delivered):
            return
        self.tenant_requests[label, outcome.verdict] += 1
        self.tenant_prompt[(label,)] += outcome.prompt_tokens
        self.tenant_cached[(label,)] += outcome.cached_tokens or 0
        self.tenant_completion[(label,)] += outcome.completion_tokens or fact.tokens

    def _interrupted(self, fact: Interrupted) -> None:
        resumed = "yes" if fact.resumed else "no"
        self.interruptions[fact.request.model, fact.node, fact.cause, resumed] += 1

    def _room_made(self, fact: RoomMade) -> None:
        self.room_made[fact.request.model, fact.node, fact.cause] += 1

    def _emptied(self, fact: Emptied) -> None:
        self.room_made[fact.model, fact.node, EMPTIED] += 1

    def _resumed(self, fact: Resumed) -> None:
        self.lanes[fact.request.model, fact.node].resume_gap.observe(fact.gap_s)

    def _instructed(self, fact: Instructed) -> None:
        for number, command in enumerate(fact.commands):
            order = command.__struct_config__.tag
            self.kv_orders[fact.node, str(order), "carried" if fact.ok else "failed"] += 1
            if fact.ok and number < len(fact.done):
                self.kv_order_blocks[fact.node, str(order)] += fact.done[number].blocks
        if fact.lost:
            self.kv_lost_links[(fact.node,)] += fact.lost

    def _residency_changed(self, fact: ResidencyChanged) -> None:
        self.residency_changes[fact.node, fact.residency] += 1

    def _warmed(self, fact: Warmed) -> None:
        self.warmups[fact.model, fact.node, "ok" if fact.ok else "failed"] += 1
        self.warmup_tokens[fact.model, fact.node] += fact.tokens if fact.ok else 0

    def _refused(self, fact: Refused) -> None:
        self.refused[fact.request.model, fact.code] += 1
        self._due.pop(fact.ticket, None)
        if label := self._labels.of(fact.request.tenant):
            self.tenant_requests[label, REFUSED] += 1

    def _node_changed(self, fact: NodeChanged) -> None:
        self.transitions[fact.node, fact.before, fact.after] += 1
        if fact.after == GONE:
            self._forget(fact.node)

    def _probe_failed(self, fact: ProbeFailed) -> None:
        self.probe_failures[(fact.node,)] += 1

    def _load_unknown(self, fact: LoadUnknown) -> None:
        self.load_unknown[(fact.node,)] += 1

    def _fed_back(self, fact: FedBack) -> None:
        word = "good" if fact.report.good else "bad" if fact.counted else "late"
        self.feedback[fact.node, word] += 1

    def _cache_reported(self, fact: CacheReported) -> None:
        change = fact.change
        node = (change.node,)
        self.kv_batches[node] += change.batches
        self.kv_gaps[node] += change.gaps
        self.kv_lost[node] += change.lost
        self.kv_resets[node] += change.cleared

    def _panic_changed(self, fact: PanicChanged) -> None:
        self.panics[(fact.model,)] += fact.panic

    def _policy_raised(self, fact: PolicyRaised) -> None:
        self.policy_errors[fact.policy, fact.call] += 1

    def _policy_changed(self, fact: PolicyChanged) -> None:
        self.policy_changes[fact.scope, fact.policy] += 1

    def _kv(self) -> tuple[Counts, ...]:
        return self.kv_batches, self.kv_gaps, self.kv_lost, self.kv_resets

    def _forget(self, node: str) -> None:
        series: defaultdict[tuple[str, ...], Any]
        first = (self.transitions, self.probe_failures, self.load_unknown, self.feedback, *self._kv())
        second = (self.lanes, self._requests, self._tries, self.interruptions, self.room_made)
        for series, place in [*((each, 0) for each in first), *((each, 1) for each in second)]:
            for labels in [labels for labels in series if labels[place] == node]:
                del series[labels]


def _no_events() -> tuple[Counts, Counts, Counts, Counts]:
    """Counts of KV events, by node: batches, gaps between them, batches lost, and resets."""
    return defaultdict(int), defaultdict(int), defaultdict(int), defaultdict(int)
