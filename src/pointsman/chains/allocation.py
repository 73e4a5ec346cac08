"""Which chains share the servers' cache: greedy cache allocation, GCA.

T. Sun, T. He, I.-H. Hou (2026): give the fastest chain all the jobs it has cache for, take that cache away, and go on
with the fastest of what is left. Where jobs go to the fastest free chain, no other chains are ever needed.
Strategy: along a chain the next block only grows, so with stages sorted by their end the fastest chain takes one pass.
Every chain found uses up a link, so there are O(J²) of them.
"""

from collections.abc import Sequence
from math import inf

from pointsman.chains.model import Chain, Service, Stage


def allocate(stages: Sequence[Stage], service: Service) -> tuple[Chain, ...]:
    """The chains through `stages`, fastest first; none where no chain has cache for a job."""
    ordered = sorted(stages, key=lambda stage: stage.end)
    slots = [service.slots(stage.server, stage.count) for stage in ordered]
    chains = []
    while path := _fastest(ordered, slots, service.blocks):
        taken = [ordered[at].taken(following) for at, following in path]
        capacity = min(slots[at] // blocks for (at, _), blocks in zip(path, taken, strict=True))
        for (at, _), blocks in zip(path, taken, strict=True):
            slots[at] -= capacity * blocks
        through = tuple(ordered[at] for at, _ in path)
        seconds = sum(stage.server.job_seconds(blocks) for stage, blocks in zip(through, taken, strict=True))
        chains.append(Chain(through, tuple(taken), capacity, seconds))
    return tuple(chains)


def _fastest(ordered: Sequence[Stage], slots: Sequence[int], blocks: int) -> list[tuple[int, int]]:
    """The fastest chain that has cache for one job: each stage's place and the block a job comes to it for."""
    best: dict[int, tuple[float, int]] = {1: (0.0, -1)}  # by next block: seconds so far, and the stage that led there
    came_for: dict[int, int] = {}
    for at, stage in enumerate(ordered):
        seconds, following = _entry(stage, slots[at], best)
        if seconds < best.get(stage.end, (inf, -1))[0]:
            best[stage.end] = (seconds, at)
            came_for[at] = following
    return _path(best, came_for, blocks + 1)


def _entry(stage: Stage, slots: int, best: dict[int, tuple[float, int]]) -> tuple[float, int]:
    """The least seconds to the end of `stage`, and the block to enter it at."""
    ways = (
        (seconds + stage.server.job_seconds(taken), following)
        for following, (seconds, _) in best.items()
        if 0 < (taken := stage.taken(following)) <= slots
    )
    return min(ways, default=(inf, 0))


def _path(best: dict[int, tuple[float, int]], came_for: dict[int, int], end: int) -> list[tuple[int, int]]:
    path = []
    while end > 1 and end in best:
        at = best[end][1]
        path.append((at, came_for[at]))
        end = came_for[at]
    return path[::-1]
