"""All that is learned from how requests went: composes the estimators of `load/` and feeds them leases.

Mutates the fleet's estimate columns (response, service and latency rates, recovery, growth, speed).
"""

from math import ceil

import numpy as np

from pointsman.brain.costs.prior import latency_rates
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease
from pointsman.brain.load.growth import QueueGrowth
from pointsman.brain.load.latency import LatencyModel
from pointsman.brain.load.median import median
from pointsman.brain.load.output_length import OutputLength
from pointsman.brain.load.peak_ewma import PeakEwma
from pointsman.brain.load.priors import PrefillPrior, TpotPrior
from pointsman.brain.load.queueing import Queueing
from pointsman.brain.load.recent_work import RecentWork
from pointsman.brain.load.recovery import RecoverySlope
from pointsman.brain.load.request_size import RequestSize
from pointsman.brain.load.response_at_queue import ResponseAtQueue
from pointsman.brain.load.sampling import Sampling
from pointsman.brain.load.service_time import ServiceTime
from pointsman.brain.load.slowness import Slowness
from pointsman.brain.load.tokens_per_byte import TokensPerByte
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import Floats, View

_OK = Verdict.OK  # Python looks up a member of an enumeration in a tenth of a microsecond, a name in a hundredth

MOST_TOKENS = 10**9
"""No prompt is believed to be longer, whatever engines say of others: so sums of bookings stay exact."""

RANK_SECONDS = 1.0
"""How often speeds are compared: the rates they follow from have a memory of some 50 requests."""


class Estimates:
    """What to expect of a request and of a node. Sizes in tokens, times in seconds."""

    def __init__(self, settings: BrainSettings, fleet: Fleet) -> None:
        columns = fleet.columns
        self._settings = settings
        self._fleet = fleet
        self.tokens_per_byte = TokensPerByte()
        self.output_length = OutputLength()
        self.request_size = RequestSize()
        self._response = PeakEwma(fleet.cells.response_seconds, settings.peak_decay_s)
        self._at_queue = ResponseAtQueue(fleet.cells.response_at_queue, fleet.cells.response_seconds)
        self._service = ServiceTime(fleet.cells.service_seconds)
        self._work = RecentWork(fleet.cells.recent_work)
        self._recovery = RecoverySlope(columns.recovery_slope, settings.recovery_sample_s)
        self._growth = QueueGrowth(fleet.cells.queue_growth)
        self._latency = LatencyModel(fleet.cells)
        self._slowness = Slowness(fleet.cells)
        self.queueing = Queueing()
        self._responses = Sampling(fleet.capacity)
        self._first_tokens = Sampling(fleet.capacity)
        self._ends = Sampling(fleet.capacity)
        self._ranked = False
        self._ranked_at = 0.0

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings
        self._response.decay_s = settings.peak_decay_s

    def add(self, row: int, spec: NodeSpec, now: float) -> None:
        """A new node starts at what its declared hardware and model promise, else at its peers' mean."""
        self._response.start(row, now)
        self._at_queue.start(row)
        self._service.start(row)
        self._work.start(row)
        self._recovery.start(row)
        self._growth.start(row)
        rates = latency_rates(spec.profile, spec.hardware, spec.tensor_parallel)
        prefill, tpot = (PrefillPrior(*rates[0]), TpotPrior(*rates[1])) if rates else (PrefillPrior(), TpotPrior())
        kind = f"{spec.profile} on {spec.tensor_parallel} {spec.hardware}" if rates else ""
        self._latency.prior(row, prefill, tpot, kind)
        self._slowness.start(row, kind)
        self._responses.start(row, now)
        self._first_tokens.start(row, now)
        self._ends.start(row, now)
        self._rank_speed()

    def remove(self, row: int) -> None:
        """The node has left: what is learned of the fleet as a whole goes on without it."""
        self._response.forget(row)
        self._latency.forget(row)
        self._slowness.forget(row)
        self.queueing.forget(row)
        self._rank_speed()

    def fell(self, row: int, now: float) -> None:
        """The node went down: its response times say nothing about how it will be when it is back."""
        self._response.start(row, now)
        self._at_queue.start(row)

    def size(self, request: Request) -> tuple[int, float]:
        """Prompt tokens (1 to MOST_TOKENS) and tokens per link of the request's chain."""
        ratio = 1.0 / self.tokens_per_byte.bytes_per_token(request.model)
        prompt = round(request.prompt_tokens or request.prompt_bytes * ratio)
        chain = request.chain
        per_link = 0.0 if chain is None else chain.tokens_per_link or chain.bytes_per_link * ratio
        return (prompt if 0 < prompt < MOST_TOKENS else min(max(1, prompt), MOST_TOKENS)), per_link

    def output(self, request: Request) -> int:
        """Expected output tokens, at least 1."""
        return max(1, round(self.output_length.expect(request.model, request.tenant, request.max_tokens)))

    def reserve(self, request: Request, expected: int) -> int:
        """Output tokens that memory is reserved for: `expected`, or the quantile that settings ask for."""
        share = self._settings.output_quantile
        if share is None:
            return expected
        return ceil(self.output_length.quantile(request.model, request.tenant, share, request.max_tokens))

    def sent(self, lease: Lease) -> None:
        """A lease began: its work is the prefill of what was not cached, and the answer at the pace of an idle node."""
        ticket, cells, row = lease.ticket, self._fleet.cells, lease.row
        cells.sent_tokens[row] += ticket.prompt_tokens
        prefill = (ticket.prompt_tokens - lease.overlap_tokens) * cells.prefill_per_token[row]
        self._work.add(row, prefill + ticket.output_tokens * cells.tpot_base[row])

    def reported(self, row: int) -> None:
        """The node told its load: it knows of all that was sent before."""
        self._fleet.cells.sent_tokens[row] = 0.0

    def first_token(self, lease: Lease, now: float) -> None:
        """A first token (or the first byte of a plain answer) came: learn response time and prefill rate."""
        seconds = now - lease.started
        self._responded(lease, seconds, now)
        if lease.ticket.request.stream and self._first_tokens.take(lease.row, now):
            self._ranked = False
            miss = lease.ticket.prompt_tokens - lease.overlap_tokens
            tokens = lease.ahead_tokens + miss
            pairs = lease.ahead_pairs + miss * (lease.overlap_tokens + 0.5 * miss)
            self._slowness.first_token(lease.row, tokens, pairs, seconds, now)
            self._latency.observe_prefill(lease.row, tokens, pairs, seconds)

    def ended(self, lease: Lease, outcome: Outcome, now: float) -> float | None:
        """A lease ended: learn from it if it went well. Returns the mean seconds between its tokens, if known."""
        if outcome.verdict is not _OK:
            return None
        if lease.first_at is None:
            self._responded(lease, now - lease.started, now)
        told = outcome.completion_tokens - lease.ticket.delivered_tokens
        seconds = _seconds_per_token(lease, told if told > 0 else lease.tokens, now)
        if self._ends.take(lease.row, now):
            self._learn(lease, outcome, now)
            if seconds is not None:
                self._learn_tpot(lease, seconds, now)
        return seconds

    def refresh(self, now: float) -> None:
        """Renew what changes with time alone."""
        self._response.refresh(now, len(self._fleet))
        self._at_queue.refresh(self._fleet.table.outstanding)
        self._work.refresh(now, len(self._fleet))
        self._growth.sample(self._fleet.table.outstanding, now)
        if not self._ranked and now - self._ranked_at >= RANK_SECONDS:
            self._ranked_at = now
            self._rank_speed()

    def excess(self, now: float, elapsed: float) -> dict[int, float]:
        """How many times (natural logarithm) each row is worse than its peers, by latency or by queue; 0 if unknown.

        To be asked periodically, `elapsed` seconds since the last time; it costs some time per node.
        """
        self._slowness.refresh(now, elapsed)
        for row, prefill, tpot in self._slowness.forgiven(now, elapsed):
            self._latency.rescale(row, prefill, tpot)
            self._ranked = False
        worse = dict(self.queueing.excess())
        for row, slowness in self._slowness.slowness().items():
            worse[row] = max(slowness, worse.get(row, 0.0))
        return worse

    def sample(self, now: float) -> None:
        """Take the periodic sample of load."""
        self._recovery.sample(self.load(), now)

    def load(self) -> Floats:
        """Each row's load as policies see it."""
        rows = len(self._fleet)
        view = View(
            self._fleet.table,
            np.arange(rows),
            overlap=np.zeros(rows),
            prompt_tokens=0.0,
            output_tokens=0.0,
            whole=True,
            ttft_objective=self._settings.ttft_objective_s,
        )
        return view.load

    def _learn(self, lease: Lease, outcome: Outcome, now: float) -> None:
        ticket = lease.ticket
        request, tokens = ticket.request, outcome.completion_tokens
        self._service.observe(lease.row, now - lease.started)
        self.request_size.observe(ticket.prompt_tokens + tokens)
        if tokens:
            self.output_length.observe(request.model, request.tenant, tokens)
        if outcome.prompt_tokens and request.prompt_bytes:
            self.tokens_per_byte.observe(request.model, request.prompt_bytes, outcome.prompt_tokens)

    def _learn_tpot(self, lease: Lease, seconds: float, now: float) -> None:
        cells = self._fleet.cells
        running = 0.5 * (lease.running_at_start + cells.running[lease.row] + 1.0)
        context = 0.5 * (lease.context_at_start + cells.context_tokens[lease.row])
        self._slowness.tokens(lease.row, running, context, seconds, now)
        self._latency.observe_tpot(lease.row, running, context, seconds)

    def _responded(self, lease: Lease, seconds: float, now: float) -> None:
        self._response.observe(lease.row, seconds, now)
        if self._responses.take(lease.row, now):
            self._at_queue.observe(lease.row, lease.queue_at_start, seconds)

    def _rank_speed(self) -> None:
        """speed = prefill tokens/s over the fleet's median."""
        self._ranked = True
        per_token, speed = self._fleet.cells.prefill_per_token, self._fleet.cells.speed
        used = [row for row in range(len(self._fleet)) if per_token[row] > 0.0]
        if used:
            middle = median([per_token[row] for row in used])
            for row in used:
                speed[row] = middle / per_token[row]


def _seconds_per_token(lease: Lease, tokens: int, now: float) -> float | None:
    """Mean seconds between the tokens of a stream, None where they were not seen."""
    if lease.first_at is None or not lease.ticket.request.stream or tokens < 2:
        return None
    return (now - lease.first_at) / (tokens - 1)
