"""What runs on a node, on a clock of its own: an engine here, or a plain inference server.

A node knows its process by a handful of methods, so that dying, standing still and coming back are the same for both.
Times are the process's own seconds.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.engine.core import StepResult
from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence
from pointsman.engine.timeline import Timeline

Deliver = Callable[[float, StepResult], None]
"""Told of tokens and ends as they come."""


class Counters(msgspec.Struct, frozen=True):
    """What was done since the start. `busy_s`: length of all steps, or time with anything to do."""

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    preemptions: int = 0
    evicted_blocks: int = 0
    busy_s: float = 0.0

    def after(self, earlier: "Counters") -> "Counters":
        """These, and what was done before."""
        sums = {name: getattr(earlier, name) + getattr(self, name) for name in self.__struct_fields__}
        return Counters(**sums)


class Process(Protocol):
    """`advance` is called at each `next_event`, with exactly that time."""

    def submit(self, sequence: Sequence, now: float) -> None: ...
    def abort(self, sequence: Sequence, now: float) -> bool: ...
    def next_event(self) -> float: ...
    def advance(self, now: float) -> None: ...

    def slow_down(self, factor: float) -> None:
        """What begins from now on takes `factor` times as long as the profile says."""
        ...

    def reading(self, spec: NodeSpec, now: float) -> NodeReport:
        """What a probe finds."""
        ...

    def counters(self) -> Counters:
        """Since the process began; `requests` is left to the node."""
        ...


class EngineProcess:
    """An engine core on its line of time."""

    def __init__(self, profile: EngineProfile, deliver: Deliver) -> None:
        self._profile = profile
        self._core = profile.core()
        self._timeline = Timeline(self._core, deliver, profile.overhead_seconds)
        self.submit = self._timeline.submit
        self.abort = self._timeline.abort
        self.next_event = self._timeline.next_event
        self.advance = self._timeline.advance

    def slow_down(self, factor: float) -> None:
        self._core.slowdown = self._profile.slowdown * factor

    def reading(self, spec: NodeSpec, now: float) -> NodeReport:  # noqa: ARG002 - a plain server's depends on it
        """What an engine's metrics tell."""
        core, limits = self._core, self._profile.limits
        return NodeReport(
            node=spec.name,
            ok=True,
            models=spec.models,
            running=core.running,
            waiting=core.waiting,
            kv_usage=core.kv_usage,
            kv_blocks=limits.blocks,
            block_tokens=limits.block_size,
        )

    def counters(self) -> Counters:
        totals = self._core.totals
        return Counters(
            prompt_tokens=totals.prompt_tokens,
            cached_tokens=totals.prefix_hits,
            generated_tokens=totals.generated_tokens,
            preemptions=totals.preemptions,
            evicted_blocks=self._core.pool.evicted,
            busy_s=totals.busy_seconds,
        )
