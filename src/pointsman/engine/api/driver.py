"""The engine on the wall clock: a timeline that is advanced by timers, and the jobs its sequences belong to."""

import asyncio
from collections.abc import Iterable
from math import ceil, inf

from pointsman.brain.model.commands import Carried, Command
from pointsman.clock import Clock
from pointsman.engine.api.choice import Choice
from pointsman.engine.api.job import Job
from pointsman.engine.api.metrics import EngineMetrics
from pointsman.engine.api.publisher import Publisher
from pointsman.engine.core import StepResult
from pointsman.engine.profile import EngineProfile
from pointsman.engine.timeline import Timeline

_TIMER_RESOLUTION = 0.001  # of the event loop, in seconds; timers set any finer would spin


class Driver:
    """Steps an engine in engine seconds, `time_scale` of which pass in a second of wall time.

    Timers may be late; events still get the moments they were due, so the engine's time does not drift.
    """

    def __init__(
        self,
        profile: EngineProfile,
        clock: Clock,
        time_scale: float,
        metrics: EngineMetrics,
        publisher: Publisher | None = None,
    ) -> None:
        self.profile = profile
        self.core = profile.core()
        self.metrics = metrics
        self._publisher = publisher
        self._left: list[Choice] = []
        self._clock = clock
        self._began = clock.now()
        self.scale = time_scale
        self._timeline = Timeline(self.core, self._deliver, profile.overhead_seconds)
        self._owners: dict[str, tuple[Job, Choice]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = inf
        self._recovery: asyncio.TimerHandle | None = None

    def now(self) -> float:
        """Engine seconds since the start."""
        return (self._clock.now() - self._began) * self.scale

    def submit(self, job: Job) -> None:
        """Start a job's sequences now. Their ids must be unused."""
        now = self.now()
        self._timeline.advance(now)
        for choice in job.choices:
            self._owners[choice.sequence.key] = (job, choice)
            choice.submitted_at = now
            self._timeline.submit(choice.sequence, now)
        self._arm()

    def abort(self, job: Job) -> bool:
        """End what is left of a job; False if it had ended."""
        now = self.now()
        self._timeline.advance(now)
        aborted = False
        for choice in job.choices:
            if self._owners.pop(choice.sequence.key, None) is not None:
                self._left.append(choice)
                aborted |= self._timeline.abort(choice.sequence, now)
                self.metrics.aborted()
        self._arm()
        return aborted

    def carry_out(self, commands: Iterable[Command]) -> list[Carried]:
        """Do with the KV cache what is ordered. Raises ValueError for an engine that does not obey."""
        return self._timeline.carry_out(commands, self.now())

    def slow_down(self, factor: float, seconds: float | None = None) -> None:
        """Multiply the time of the steps scheduled from now on by `factor` (1: the profile's own speed).

        After `seconds` of wall time, if given, the engine recovers by itself.
        """
        if self._recovery is not None:
            self._recovery.cancel()
            self._recovery = None
        self._timeline.advance(self.now())
        self.core.slowdown = self.profile.slowdown * factor
        if seconds is not None:
            self._recovery = asyncio.get_running_loop().call_later(seconds, self.slow_down, 1.0)

    def reset(self) -> bool:
        """Forget the prefix cache and the counters; False, changing nothing, while sequences run."""
        if not self.core.reset():
            return False
        self.metrics.clear()
        return True

    def stop(self) -> None:
        for timer in (self._timer, self._recovery):
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        self._timer_due = inf
        self._timeline.advance(self.now())
        self._arm()

    def _arm(self) -> None:
        due = self._timeline.next_event()
        if due >= self._timer_due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        if due < inf:
            wait = (due - self.now()) / self.scale
            rounded = max(0, ceil(wait / _TIMER_RESOLUTION)) * _TIMER_RESOLUTION
            self._timer = asyncio.get_running_loop().call_later(rounded, self._wake)

    def _deliver(self, now: float, result: StepResult) -> None:
        if self._publisher is not None and result.kv_events is not None:
            self._publisher.publish(result.kv_events, self._text_of)
        self._left.clear()
        woken: dict[int, Job] = {}
        for sequence in result.emitted:
            job, choice = self._owners[sequence.key]
            choice.write()
            self.metrics.token(choice, now)
            if job.wrote(choice):
                woken[id(job)] = job
            if choice.finish_reason is not None:
                self.core.finish(sequence, now)
                del self._owners[sequence.key]
                self.metrics.finished(choice, now)
        for job in woken.values():
            job.wake()

    def _text_of(self, block: int) -> bytes:
        """The text of a block that a sequence has just stored; the sequence may have been aborted since."""
        for choice in (*(choice for _, choice in self._owners.values()), *self._left):
            if choice.texts is not None and block in choice.texts:
                return choice.texts[block]
        raise LookupError(f"no sequence has block {block}")
