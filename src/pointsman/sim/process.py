"""What runs on a node, on a clock of its own: an engine here, or a plain inference server.

A node knows its process by a handful of methods, so that dying, standing still and coming back are the same for both.
Times are the process's own seconds.
"""

from collections.abc import Callable
from collections.abc import Sequence as Several
from typing import Protocol

import msgspec

from pointsman.brain.model.commands import Command
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.engine.core import StepResult
from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence
from pointsman.engine.timeline import Timeline
from pointsman.wire.kv_orders import KvAnswer

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

    def slow_down(self, factor: float, now: float) -> None:
        """What begins from now on takes `factor` times as long as the profile says."""
        ...

    def reading(self, spec: NodeSpec, now: float) -> NodeReport:
        """What a probe finds."""
        ...

    def counters(self, now: float) -> Counters:
        """Since the process began; `requests` is left to the node."""
        ...


class EngineProcess:
    """An engine on its line of time: many steps at a time or, if `exact`, step by step."""

    def __init__(self, profile: EngineProfile, deliver: Deliver, *, exact: bool = False) -> None:
        self._profile = profile
        self._timeline = profile.timeline(deliver, exact=exact)
        self.submit = self._timeline.submit
        self.abort = self._timeline.abort
        self.next_event = self._timeline.next_event
        self.advance = self._timeline.advance

    def slow_down(self, factor: float, now: float) -> None:
        self._timeline.slow_down(self._profile.slowdown * factor, now)

    def carry_out(self, commands: Several[Command], now: float) -> KvAnswer | None:
        """Do with the cache what is ordered; None from an engine that does not obey."""
        timeline = self._timeline
        if not isinstance(timeline, Timeline) or timeline.core.obedient is None:
            return None
        return KvAnswer(tuple(timeline.carry_out(commands, now)), timeline.core.obedient.take_lost())

    def reading(self, spec: NodeSpec, now: float) -> NodeReport:
        """What an engine's metrics tell."""
        limits = self._profile.limits
        blocks, block_s = self._other_memory()
        running, waiting, kv_usage = self._timeline.load(now)
        return NodeReport(
            node=spec.name,
            ok=True,
            models=spec.models,
            running=running,
            waiting=waiting,
            kv_usage=kv_usage,
            kv_blocks=limits.blocks,
            block_tokens=limits.block_size,
            obeys=limits.obeys,
            swap_blocks=blocks,
            swap_block_s=block_s,
        )

    def _other_memory(self) -> tuple[int, float]:
        """Of the first tier with room, that room in blocks and the seconds that copying one takes."""
        timeline = self._timeline
        if isinstance(timeline, Timeline) and timeline.core.limits.obeys:
            for number, tier in enumerate(timeline.core.limits.tiers):
                if timeline.core.swap.free(number):
                    return timeline.core.swap.free(number), tier.seconds_per_block
        return 0, 0.0

    def counters(self, now: float) -> Counters:
        totals = self._timeline.totals(now)
        return Counters(
            prompt_tokens=totals.prompt_tokens,
            cached_tokens=totals.prefix_hits,
            generated_tokens=totals.generated_tokens,
            preemptions=totals.preemptions,
            evicted_blocks=totals.evicted_blocks,
            busy_s=totals.busy_seconds,
        )
