"""A plain inference server in the simulation: it answers each request after the time that follows from its load."""

from heapq import heappop, heappush
from math import inf, pi, sin

import msgspec

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.engine.core import StepResult
from pointsman.engine.plain_service import PlainService
from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence, Status
from pointsman.sim.process import Counters, Deliver, EngineProcess, Process


class PlainProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A plain server, and load on it that does not come from requests: `drift`, with a swing of `drift_swing` to either
    side over `drift_period_s`, begun at the share `phase` of it; never below 0. `slowdown` multiplies all its times.
    """

    service: PlainService
    slowdown: float = 1.0
    drift: float = 0.0
    drift_swing: float = 0.0
    drift_period_s: float = 120.0
    phase: float = 0.0

    def drift_at(self, now: float) -> float:
        """The load that is there anyway."""
        swing = self.drift_swing * sin(2 * pi * (now / self.drift_period_s + self.phase))
        return max(0.0, self.drift + swing)


class PlainProcess:
    """Answers each request after the time that follows from the load it meets."""

    def __init__(self, profile: PlainProfile, deliver: Deliver) -> None:
        self._profile = profile
        self._deliver = deliver
        self._factor = profile.slowdown
        self._ends: list[tuple[float, int, Sequence]] = []
        self._running = 0
        self._arrivals = 0
        self._busy_since = 0.0
        self._busy_s = 0.0
        self._prompt_tokens = 0
        self._generated_tokens = 0

    def submit(self, sequence: Sequence, now: float) -> None:
        """A request arrives and is at work at once."""
        service = self._profile.service
        seconds = service.seconds(service.load(self._running, self._profile.drift_at(now))) * self._factor
        if not self._running:
            self._busy_since = now
        self._running += 1
        self._arrivals += 1
        self._prompt_tokens += sequence.prompt_tokens
        sequence.status = Status.RUNNING
        heappush(self._ends, (now + seconds, self._arrivals, sequence))

    def abort(self, sequence: Sequence, now: float) -> bool:
        """End a request without an answer; False if it has ended."""
        if sequence.status is Status.DONE:
            return False
        if sequence.status is Status.RUNNING:
            self._leave(now)
        sequence.status, sequence.finished_at = Status.DONE, now
        return True

    def next_event(self) -> float:
        """When the next answer is due; infinity if there is none."""
        while self._ends and self._ends[0][2].status is Status.DONE:
            heappop(self._ends)
        return self._ends[0][0] if self._ends else inf

    def advance(self, now: float) -> None:
        """Give all answers that are due."""
        while self.next_event() <= now:
            ends, _, sequence = heappop(self._ends)
            sequence.status, sequence.finished_at, sequence.first_token_at = Status.DONE, ends, ends
            sequence.generated = sequence.max_tokens
            self._generated_tokens += sequence.generated
            self._leave(ends)
            self._deliver(ends, StepResult([sequence], [sequence]))

    def slow_down(self, factor: float, now: float) -> None:  # noqa: ARG002 - an engine's step in progress depends on it
        self._factor = self._profile.slowdown * factor

    def reading(self, spec: NodeSpec, now: float) -> NodeReport:
        """What such a server's status tells: its own load."""
        load = self._profile.service.load(self._running, self._profile.drift_at(now))
        return NodeReport(node=spec.name, ok=True, models=spec.models, load=load, running=self._running)

    def counters(self, now: float) -> Counters:  # noqa: ARG002 - an engine's depend on it
        return Counters(prompt_tokens=self._prompt_tokens, generated_tokens=self._generated_tokens, busy_s=self._busy_s)

    def _leave(self, now: float) -> None:
        self._running -= 1
        if not self._running:
            self._busy_s += now - self._busy_since


Profile = EngineProfile | PlainProfile


def process_of(profile: Profile, deliver: Deliver, *, exact: bool = False) -> Process:
    """A fresh process of this profile. Only an `exact` engine tells of each token."""
    if isinstance(profile, PlainProfile):
        return PlainProcess(profile, deliver)
    return EngineProcess(profile, deliver, exact=exact)
