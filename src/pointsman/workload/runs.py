"""Chains of block ids, written as runs of consecutive ids: a prompt of hundreds of blocks is a handful of runs."""

from collections.abc import Iterable

Runs = tuple[tuple[int, int], ...]
"""(first id, blocks) of each run; maximal ones, so that none could be joined with the next."""


def runs_of(ids: Iterable[int]) -> Runs:
    """The runs of a chain of ids (≥ 0)."""
    runs: list[tuple[int, int]] = []
    first = following = -1
    for block in ids:
        if block != following:
            if following > first:
                runs.append((first, following - first))
            first = block
        following = block + 1
    if following > first:
        runs.append((first, following - first))
    return tuple(runs)


def ids_of(runs: Runs) -> list[int]:
    """The chain of ids, written out."""
    return [block for first, count in runs for block in range(first, first + count)]


def divided(runs: Runs, parts: int, blocks: int) -> Runs:
    """The first `blocks` blocks of the chain whose blocks are these, each divided into `parts`."""
    cut: list[tuple[int, int]] = []
    for first, count in runs:
        if blocks <= 0:
            break
        taken = min(count * parts, blocks)
        cut.append((first * parts, taken))
        blocks -= taken
    return tuple(cut)
