"""The two speeds of the engine: many steps at a time, and one by one, tell the same story."""

from math import inf, isclose
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS
from pointsman.brain.costs.step_time import Linear, Roofline
from pointsman.engine.core import Core, Limits, StepResult
from pointsman.engine.macro import MacroTimeline
from pointsman.engine.sequence import Sequence
from pointsman.engine.swap import Tier
from pointsman.engine.timeline import Timeline
from pointsman.workload.runs import Runs

ROOFLINE = Roofline(MODELS["Llama-3-8B"], HARDWARE["A100-80G"])
LINEAR = Linear(0.0101, 0.00013, 9973.0, 1e-7)


class Ask:
    """One request of a workload, in plain numbers."""

    def __init__(self, at: float, prompt: int, output: int, runs: Runs, priority: int, abort: float | None) -> None:
        self.at, self.prompt, self.output, self.runs = at, prompt, output, runs
        self.priority, self.abort = priority, abort

    def __repr__(self) -> str:
        return f"Ask({self.at}, {self.prompt}, {self.output}, {self.runs}, {self.priority}, {self.abort})"


Story = list[tuple[float, str, object]]


def story(asks: list[Ask], limits: Limits, looks: list[float], *, roofline: bool, exact: bool) -> Story:
    """Everything that can be seen of an engine that serves `asks`."""
    told: Story = []

    def deliver(now: float, result: StepResult) -> None:
        told.extend((now, "first", sequence.key) for sequence in result.emitted if sequence.generated == 1)
        told.extend((now, "end", sequence.key) for sequence in result.finished)

    time = ROOFLINE if roofline else LINEAR
    if exact:
        timeline: Timeline | MacroTimeline = Timeline(Core(limits, time, 1.0), deliver, 0.0203)
    else:
        timeline = MacroTimeline(limits, time, 1.0, deliver, 0.0203)
    sequences = [Sequence(str(n), a.prompt, a.output, None, a.priority, a.runs) for n, a in enumerate(asks)]
    events = [(ask.at, 0, n) for n, ask in enumerate(asks)]
    events += [(ask.at + ask.abort, 1, n) for n, ask in enumerate(asks) if ask.abort is not None]
    events += [(at, 2, n) for n, at in enumerate(looks)]
    for at, kind, which in sorted(events):
        while (due := timeline.next_event()) <= at:
            timeline.advance(due)
        if kind == 0:
            timeline.submit(sequences[which], at)
        elif kind == 1:
            told.append((at, "abort", timeline.abort(sequences[which], at)))
        elif which == 0:
            timeline.slow_down(1.7, at)
        else:
            told.append((at, "load", timeline.load(at)))
            told.append((at, "busy", timeline.totals(at).busy_seconds))
            told.append((at, "steps", timeline.totals(at).steps))
            told.append((at, "tokens", timeline.totals(at).generated_tokens))
    while (due := timeline.next_event()) < inf:
        timeline.advance(due)
    totals = timeline.totals(1e9)
    told.append(
        (
            totals.busy_seconds,
            "totals",
            [getattr(totals, name) for name in totals.__struct_fields__ if name != "busy_seconds"],
        )
    )
    pool = timeline.pool if isinstance(timeline, MacroTimeline) else timeline.core.pool
    told.append((0.0, "pool", (pool.free, pool.cached, pool.evicted)))
    for sequence in sequences:
        told.append((sequence.finished_at or 0.0, "done", (sequence.generated, sequence.cached_tokens)))
        told.append((sequence.first_token_at or 0.0, "first at", sequence.first_token_at is None))
        told.append((sequence.scheduled_at or 0.0, "scheduled at", sequence.order))
        through = sequence.generated == sequence.max_tokens
        told.append((sequence.gap_s if through else 0.0, "longest gap", through))
    return told


def same(one: Story, other: Story) -> None:
    assert [entry[1:] for entry in one if entry[1] not in ("busy", "load")] == [
        entry[1:] for entry in other if entry[1] not in ("busy", "load")
    ]
    assert len(one) == len(other)
    for (at, what, seen), (at_too, _, seen_too) in zip(one, other, strict=True):
        assert isclose(at, at_too, rel_tol=1e-9, abs_tol=1e-9)
        if what in ("busy", "load"):
            assert seen == pytest.approx(seen_too, rel=1e-9, abs=1e-9)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[list[Ask], Limits, list[float]]:
    """Requests of a few families that share prefixes, a tenth of them aborted; blocks from scarce to plenty."""
    random = Random(draw(st.integers(0, 2**32)))  # hypothesis's own would draw infinite times
    size, branch = draw(st.sampled_from([4, 16])), draw(st.integers(1, 4))
    most, longest = draw(st.sampled_from([30, 200, 1500])), draw(st.sampled_from([3, 60, 300]))
    gap, at, asks = draw(st.sampled_from([0.003, 0.05, 0.4])), 0.0, []
    for number in range(draw(st.integers(1, 40))):
        at += random.expovariate(1 / gap)
        prompt, output = random.randint(1, most), random.randint(1, longest)
        known = prompt + random.choice([0, output])
        abort = random.uniform(0, 3) if random.random() < 0.1 else None
        chain = runs_of(random, known // size, number, branch)
        asks.append(Ask(at, prompt, output, chain, random.randint(0, 2), abort))
    needed = max(-(-(ask.prompt + ask.output) // size) for ask in asks)
    limits = Limits(
        blocks=needed + draw(st.sampled_from([0, 3, 40, 1000])),
        block_size=size,
        max_num_seqs=draw(st.sampled_from([1, 3, 16, 256])),
        max_num_batched_tokens=draw(st.sampled_from([8, 64, 512, 2048])),
        by_priority=draw(st.booleans()),
        tiers=draw(st.sampled_from([(), (Tier(30, 0.00011),), (Tier(4, 0.00011), Tier(200, 0.00047))])),
    )
    return asks, limits, sorted(random.uniform(0, at + 2) for _ in range(draw(st.integers(0, 12))))


def runs_of(random: Random, blocks: int, number: int, branch: int) -> Runs:
    """A chain of up to three runs; what two chains have in common is a leading part of both.

    Some branch off in the middle of a run of others.
    """
    runs: list[tuple[int, int]] = []
    path = 1
    for _ in range(2):
        path = 100 * path + random.randint(1, branch)
        count = 3 + 7 * path % 11
        runs.append((path << 20, min(count, blocks)))
        blocks -= runs[-1][1]
        if count > 5 and random.random() < 0.2:
            count = random.randint(1, count - 1)
            blocks += max(0, runs[-1][1] - count)
            runs[-1] = (path << 20, min(count, runs[-1][1]))
            path = 100 * path + 50 + count
    own = number if random.random() < 0.7 else random.randint(0, number)
    runs.append(((100 * path + own) << 20, blocks))
    return tuple(run for run in runs if run[1])


@settings(max_examples=100, deadline=None)
@given(workload=workloads(), roofline=st.booleans())
def test_many_steps_at_a_time_are_the_same_as_one_by_one(
    workload: tuple[list[Ask], Limits, list[float]], roofline: bool
) -> None:
    asks, limits, looks = workload
    same(
        story(asks, limits, looks, roofline=roofline, exact=False),
        story(asks, limits, looks, roofline=roofline, exact=True),
    )
