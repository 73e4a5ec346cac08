"""The matrix for people, as a table, and for machines, as JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from .cells import Cell, Fault, Phase, candidates, impossible
from .matrix import Round


def as_table(results: Sequence[Round]) -> Table:
    """One row a fault, one column a phase: cells that passed, of those that were played."""
    run: Counter[tuple[Fault, Phase]] = Counter()
    passed: Counter[tuple[Fault, Phase]] = Counter()
    for played in (each for result in results for each in result.played):
        key = played.cell.fault, played.cell.phase
        run[key] += 1
        passed[key] += not played.problems
    table = Table(title="cells passed / played, by fault and by what the node had done of the request")
    table.add_column("fault")
    for phase in Phase:
        table.add_column(phase, justify="right")
    for fault in Fault:
        table.add_row(fault, *[_shown(passed[fault, phase], run[fault, phase]) for phase in Phase])
    return table


def as_json(results: Sequence[Round], skipped: str | None) -> dict[str, Any]:
    """Counts, times, everything that went wrong, and the cells that cannot exist, each with its reason."""
    played = [each for result in results for each in result.played]
    failed = [each for each in played if each.problems]
    return {
        "rounds": len(results),
        "cells": len({each.cell for each in played}),
        "played": len(played),
        "passed": len(played) - len(failed),
        "failed": [{"cell": str(each.cell), "problems": each.problems} for each in failed],
        "wrong": [sentence for result in results for sentence in result.wrong],
        "skipped": skipped,
        "played_again": sum(result.again for result in results),
        "round_seconds": [round(result.seconds, 2) for result in results],
        "slowest": [{"cell": str(each.cell), "seconds": round(each.seconds, 2)} for each in _slowest(played)],
        "cannot_exist": [{"cell": str(cell), "why": why} for cell in candidates() if (why := impossible(cell))],
    }


def _slowest(played: Sequence[Any]) -> list[Any]:
    return sorted(played, key=lambda each: -each.seconds)[:5]


def matching(cells: Sequence[Cell], words: Sequence[str]) -> list[Cell]:
    """The cells in whose name all of `words` occur."""
    return [cell for cell in cells if all(word in str(cell) for word in words)]


def _shown(passed: int, run: int) -> str:
    if not run:
        return "[dim]–[/]"
    return f"{passed}/{run}" if passed == run else f"[bold red]{passed}/{run}[/]"
