"""The page of results: every experiment, what it measured, and which of its claims hold."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill

import msgspec
from markdown import code

from pointsman.config.experiment import OURS, Claim, Paper, paper_of, shipped
from pointsman.observe.columns import Cell
from pointsman.simulate.experiments.charts import alone
from pointsman.simulate.experiments.claims import Verdict, judged
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.layout import Sheet, heading, title
from pointsman.simulate.experiments.results import Results
from pointsman.simulate.experiments.tell import all_sheets

FOLDER = Path(__file__).parents[2] / "examples" / "experiments" / "results"
WIDTH = 120
GIST = 60
"""Characters that the gist of an answer has at least."""
_SENTENCE_END = re.compile(r"(?<=[.?]) (?=[A-Z`])")

_HEAD = """# What experiments show

Each experiment is a file of `examples/experiments`: a question, what was expected, and the simulations that decide it.
`pointsman sim experiment` lists them, `pointsman sim experiment NAME` runs one again. All of it is simulated: the
decisions are the gateway's own, the engines are [arithmetic](engine-model.md). Bold is the best of its column and
whatever comes within 2 % of it; ± is half the 95 % interval of the mean over seeds; `<` and `>` mark a highest rate
below or above all that was tried, and a pale bar one below. An answer was written by whoever has looked at the figures;
what stands below it is made from them. Experiments of another kind are on pages of their own: [chains of
servers](chains.md), and how [late binding](late-binding.md) earns its keep.

"""


def page() -> str:
    """Markdown."""
    found = [(name, paper_of(name), _results(name)) for name in shipped()]
    kept = [(name, paper, results) for name, paper, results in found if results is not None]
    contents = (_entry(paper, results) for _, paper, results in kept)
    return _HEAD + "\n".join(contents) + "\n\n" + "\n".join(_section(*one) for one in kept)


def _entry(paper: Paper, results: Results) -> str:
    """A line of the contents: what is asked of whom, the gist of the answer, and how its claims fared."""
    told = f"- [{paper.title}](#{_anchor(paper.title)}): {_gist(paper.answer)} ({_tally(paper, results)})"
    return fill(told, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _gist(answer: str) -> str:
    """Its first sentence, and the next where that one is too short to stand alone."""
    sentences = iter(_SENTENCE_END.split(" ".join(answer.split())))
    gist = next(sentences)
    while len(gist) < GIST and (more := next(sentences, "")):
        gist += f" {more}"
    return gist


def _tally(paper: Paper, results: Results) -> str:
    """How its claims fared."""
    words = [_fared(judged(claim, results.rows)) for claim in paper.claim]
    told = [f"{words.count(word)} {word}" for word in ("held", "held in part", "failed") if word in words]
    return f"claims: {', '.join(told)}" if told else "no claims"


def _fared(verdicts: list[Verdict]) -> str:
    if all(one.holds for one in verdicts):
        return "held"
    return "held in part" if any(one.holds for one in verdicts) else "failed"


def figures() -> dict[str, str]:
    """The SVG files it shows, by name."""
    found = ((name, paper_of(name), _results(name)) for name in shipped())
    return {
        _drawing(name, each): alone(each, results, paper.champion or OURS)
        for name, paper, results in found
        if results is not None
        for each in paper.chart
    }


def _drawing(experiment: str, name: str) -> str:
    """The file of a figure."""
    return f"{experiment}-{name}.svg".replace(" ", "-")


def _results(name: str) -> Results | None:
    path = FOLDER / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else None


def _section(name: str, paper: Paper, results: Results) -> str:
    parts = [
        f"## {paper.title}",
        paper.question.strip(),
        *(["**Answer**", paper.answer.strip()] if paper.answer else []),
        *(f"![{heading(figure(each))} of each policy](figures/{_drawing(name, each)})" for each in paper.chart),
        *(_table(sheet) for sheet in all_sheets(paper, results)),
        "\n".join(line for claim in paper.claim for line in _claim(claim, judged(claim, results.rows))),
        "\n\n".join(_notes(results)),
        f"```\npointsman sim experiment {name}{' --traces DIRECTORY' if _traced(paper) else ''}\n```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _traced(paper: Paper) -> bool:
    return any("trace" in settings for settings in (paper.settings, paper.grid, *paper.scene))


def _claim(claim: Claim, verdicts: list[Verdict]) -> Iterator[str]:
    """In how many scenes it holds, and the figures of each, those that tell against it last."""
    held, failed = [one for one in verdicts if one.holds], [one for one in verdicts if not one.holds]
    if len(verdicts) == 1:
        yield f"- Expected: {claim.says}. It **{'holds' if held else 'does not hold'}**: {verdicts[0].measured}."
        return
    yield f"- Expected: {claim.says}. It **holds in {len(held)} of {len(verdicts)}**."
    for word, group in (("holds", held), ("does not hold", failed)):
        if group:
            yield f"  - {word}: " + "; ".join(f"{title((one.scene, one.load))}: {one.measured}" for one in group)


def _notes(results: Results) -> Iterator[str]:
    """What was simulated: what all scenes have in common once."""
    first, *others = results.notes.values()
    shared = [note for note in first if all(note in each for each in others)]
    if shared:
        yield fill(" ".join(shared), WIDTH)
    for scene, notes in results.notes.items():
        own = [note for note in notes if note not in shared]
        if own:
            yield fill(f"- {scene}: {' '.join(own)}", WIDTH, subsequent_indent="  ")


def _table(sheet: Sheet) -> str:
    first, *others = sheet.head
    rows = (" | ".join([_name(row.name, first), *_cells(row.cells)]) for row in sheet.rows)
    lines = [" | ".join([first, *others]), " | ".join(["---", *["---:"] * len(others)]), *rows]
    table = [f"| {line} |" for line in lines]
    return "\n".join([*([f"**{sheet.title}**", ""] if sheet.title else []), *table])


def _name(name: str, heading: str) -> str:
    return code(name) if heading == "policy" else name


def _cells(cells: Iterable[Cell]) -> list[str]:
    texts = ((f"{cell.text} {cell.span}".rstrip(), cell.best) for cell in cells)
    return [f"**{text}**" if best else text for text, best in texts]


def _anchor(heading: str) -> str:
    return "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_").replace(" ", "-")
