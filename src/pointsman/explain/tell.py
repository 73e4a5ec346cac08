"""A story as lines: when, what, and for each decision the table of candidates."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pointsman.explain.words import words
from pointsman.observe.chapters import Chosen, Held, Story, Waited
from pointsman.observe.decision import CandidateScore, Decision
from pointsman.observe.standing import PassedOver

SHOWN = 12
"""Candidates shown of one decision, the best first, the chosen one in any case."""
INDENT = 10
WIDEST = 1000
EPOCH_YEAR = 366 * 86400.0
"""Times before that are a journal's own, which has no calendar."""


def tell(stories: Sequence[Story], out: Console) -> None:
    """Print them, oldest first."""
    for place, story in enumerate(stories):
        if place:
            out.print()
        out.print(Text(_headline(story), style="bold"), soft_wrap=True)
        for chapter in story.chapters:
            out.print(Text(f"{chapter.after_s:+9.3f}s  {words(chapter)}"), soft_wrap=True)
            if isinstance(chapter, Held | Chosen):
                _decision(chapter.decision, out)
            if isinstance(chapter, Waited):
                _passed_over(chapter.passed_over, out)


def _headline(story: Story) -> str:
    tenant = f" of tenant {story.tenant}" if story.tenant else ""
    return f"{story.request_id}{tenant}: model {story.model}, priority {story.priority:g}, {_arrived(story.arrived)}"


def _arrived(moment: float) -> str:
    if moment < EPOCH_YEAR:
        return f"arrived at {moment:.3f} s of its gateway's clock"
    return f"arrived {datetime.fromtimestamp(moment):%Y-%m-%d %H:%M:%S.%f}"[:-3]


def _decision(decision: Decision, out: Console) -> None:
    best_first = sorted(decision.candidates, key=lambda one: (one.node != decision.node, one.score))
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("node", no_wrap=True)
    useful = any(one.utility is not None for one in best_first)
    for heading in ("score ↓", "overlap", "needs", "free", "fits", *["utility"] * useful):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in best_first[:SHOWN]:
        node = Text(one.node, style="bold" if one.node == decision.node else "")
        table.add_row(node, *_cells(one)[: len(table.columns) - 1])
    for line in _lines(table, out):
        line.rstrip()
        out.print(Text(" " * INDENT) + line, soft_wrap=True)
    more = len(best_first) - SHOWN
    if more > 0:
        out.print(f"{'':{INDENT}}and {more} more, all with higher scores")
    _passed_over(decision.passed_over, out)


def _cells(one: CandidateScore) -> list[str]:
    fits = {None: "–", True: "yes", False: "no"}[one.fits]
    return [f"{one.score:.4g}", f"{one.overlap_tokens:.0f}", *map(_count, (one.blocks_needed, one.blocks_free)), fits,
            "–" if one.utility is None else f"{one.utility:.3g}"]  # fmt: skip


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _lines(table: Table, out: Console) -> Iterable[Text]:
    """As wide as it is, like the lines around it: figures that were cut short would tell nothing."""
    lines = out.render_lines(table, out.options.update(width=WIDEST), pad=False)
    return [Text("").join(Text(each.text, each.style or "") for each in line) for line in lines]


def _passed_over(nodes: Sequence[PassedOver], out: Console) -> None:
    if nodes:
        told = "; ".join(f"{one.node} ({one.why})" for one in nodes)
        out.print(Text(f"{'':{INDENT}}not asked: {told}"), soft_wrap=True)
