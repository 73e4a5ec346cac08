"""What is told of an experiment on the terminal."""

from collections.abc import Mapping
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pointsman.config.experiment import Paper, paper_of
from pointsman.observe.table import BEST
from pointsman.simulate.experiments.champion import against_all
from pointsman.simulate.experiments.claims import judged
from pointsman.simulate.experiments.layout import Sheet, sheets, title
from pointsman.simulate.experiments.results import Results

QUICK = "A quick version: it shows that the experiment runs, and decides nothing."


def listed(known: Mapping[str, Path], out: Console) -> None:
    """The experiments there are."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("experiment", no_wrap=True)
    table.add_column("asks")
    for name in known:
        table.add_row(Text(name), Text(_question(paper_of(name))))
    out.print(table)
    out.print("", "pointsman sim experiment NAME --quick shows in seconds what one does.", sep="\n", style="dim")


def _question(paper: Paper) -> str:
    """Without the file's line breaks, for a terminal has a width of its own."""
    return " ".join(paper.question.split())


def all_sheets(paper: Paper, results: Results) -> list[Sheet]:
    """Every table: those that are asked for, and the champion's."""
    found = [sheet for spec in paper.table for sheet in sheets(spec, results)]
    if not paper.champion:
        return found
    names = list(dict.fromkeys(name for spec in paper.table for name in spec.figures))
    return [against_all(paper.champion, names, results.rows), *found]


def tell(paper: Paper, results: Results, out: Console) -> None:
    """Tables, then each claim and whether it holds, then what was simulated."""
    out.print(Text(paper.title, style="bold"), Text(_question(paper)), sep="\n")
    if results.quick:
        out.print(Text(QUICK, style="yellow"))
    for sheet in all_sheets(paper, results):
        out.print("", Text(sheet.title, style="bold"), _table(sheet), sep="\n")
    out.print()
    for claim in paper.claim:
        out.print(Text(f"Expected: {claim.says}"))
        for one in judged(claim, results.rows):
            word = Text("  holds" if one.holds else "  does not hold", style="green" if one.holds else "red")
            place = title((one.scene, one.load))
            out.print(word.append(f": {one.measured}{f' ({place})' if place else ''}", style="default"))
    for scene, notes in results.notes.items():
        out.print("", *([scene] if scene else []), *notes, sep="\n", style="dim", markup=False, highlight=False)


def _table(sheet: Sheet) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    first, *others = sheet.head
    table.add_column(first, no_wrap=True)
    for each in others:
        table.add_column(each, justify="right", overflow="fold")
    for row in sheet.rows:
        texts = (Text(f"{one.text} {one.span}".rstrip(), style=BEST if one.best else "") for one in row.cells)
        table.add_row(Text(row.name), *texts)
    return table
