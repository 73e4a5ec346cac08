"""A comparison or a sweep as one HTML page: the verdict in words, then what it rests on."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pointsman import __version__
from pointsman.admin.catalogue import summary
from pointsman.clock import unix_seconds
from pointsman.config.sim import SimConfig, variant
from pointsman.observe import drawing
from pointsman.observe.columns import ARROWS, Column, Row
from pointsman.observe.pages import filled, heading_of
from pointsman.sim.statistics import LEVEL
from pointsman.simulate import drawings
from pointsman.simulate.glossary import GLOSSARY
from pointsman.simulate.plan import Plan
from pointsman.simulate.robustness import FIGURES, Held
from pointsman.simulate.standing import FEW, IN_SLO, MANY, TTFT_P99, PolicyRuns, standing
from pointsman.simulate.sweep import Swept
from pointsman.simulate.tell import TITLE, notes, ties
from pointsman.simulate.tell_robust import headings, robust_notes, rows_of
from pointsman.simulate.tell_sweep import capacity_headings, capacity_rows
from pointsman.simulate.tell_sweep import notes as sweep_notes
from pointsman.simulate.verdict import swept_verdict, verdict

Heading = tuple[str, str]


class Section(msgspec.Struct, frozen=True):
    """A heading and what stands below it. `figures`: SVG; `maps`: small ones, with the `scale` of their shades.

    `legend`: whose lines are whose; `folded`: shown when asked for.
    """

    title: str
    text: str = ""
    headings: tuple[Heading, ...] = ()
    rows: tuple[Row, ...] = ()
    legend: tuple[drawing.Line, ...] = ()
    figures: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    scale: str = ""
    folded: bool = False


def comparison_page(results: Sequence[PolicyRuns], plan: Plan, held: Sequence[Held] = ()) -> str:
    """The page of a comparison whose runs are shaped. Raises MissingExtra."""
    nodes = tuple(node.name for node in plan.nodes)

    def sections() -> list[Section]:
        shapes = _shapes(results, nodes)
        return [*_compared(results), *shapes, *(_robust(held) if held else []), _everything(results)]

    words = [*verdict(results), *(robust_notes(held)[: len(FIGURES)] if held else [])]
    return _page("Policies compared", words, sections, plan.config, [one.name for one in results], notes(plan))


def sweep_page(found: Sequence[Swept]) -> str:
    """The page of a sweep whose grid is shaped. Raises MissingExtra."""
    config = found[0].scene.config

    def sections() -> list[Section]:
        return [section for swept in found for section in _swept(swept)]

    words = [line for swept in found for line in _labelled(swept, swept_verdict(swept))]
    return _page("Policies against load", words, sections, config, config.policies, sweep_notes(found, config))


def _page(
    title: str,
    words: Sequence[str],
    sections: Callable[[], list[Section]],
    config: SimConfig,
    names: Sequence[str],
    said: Sequence[str],
) -> str:
    def content() -> dict[str, Any]:
        return {
            "page": {
                "title": title,
                "made": f"Made by Pointsman {__version__} on "
                f"{datetime.fromtimestamp(unix_seconds()):%Y-%m-%d at %H:%M}. {TITLE}.",
            },
            "verdict": words,
            "sections": sections(),
            "shades": drawing.shades(),
            "policies": [(name, _described(config, name)) for name in names],
            "glossary": GLOSSARY,
            "notes": said,
        }

    return filled("pointsman.simulate", "simulation.html", content)


def _described(config: SimConfig, name: str) -> str:
    """What the policy does, and the parameters it was given."""
    kind, parameters = variant(config, name)
    given = ", ".join(f"{key} = {value}" for key, value in parameters.items())
    return summary(kind) + (f" Here as {kind} with {given}." if given else "")


def _compared(results: Sequence[PolicyRuns]) -> list[Section]:
    repeated = len(results[0].runs) > 1
    spans = f" Below each mean, its {LEVEL:.0%} interval." if repeated else ""
    text = f"{ARROWS} Shaded: the best of its column, and what ties with it: {ties(repeated)}.{spans}"
    return [
        _table("The figures", text, results, FEW),
        Section(
            "Objective and tail",
            "The dot is the mean" + (", the line its interval." if repeated else "."),
            figures=(
                drawings.dots_svg(results, IN_SLO, "inside the SLO, % (higher is better)"),
                drawings.dots_svg(results, TTFT_P99, "P99 TTFT, s (lower is better)"),
            ),
        ),
    ]


def _shapes(results: Sequence[PolicyRuns], nodes: Sequence[str], at: str = "") -> list[Section]:
    looks = drawing.legend(drawings.looks_of(results))
    return [
        Section(
            f"Time to first token, all requests{at}",
            "First figure: the further left, the better. Second: their slow end; the lower, the better.",
            legend=looks,
            figures=tuple(drawings.waits_svg(results)),
        ),
        Section(
            f"Short and long prompts{at}",
            "How many times longer a request took than alone on the fastest node with nothing cached, by the length of "
            "its prompt. Where a line rises to the left, short requests wait behind long ones.",
            legend=looks,
            figures=(drawings.slowdown_svg(results),),
        ),
        Section(
            f"Where the requests were{at}",
            "Requests on each node over time, in the first seed's run. Even shades in a column: the nodes share the "
            "load. A dark row: that node is overrun.",
            maps=tuple(drawings.maps_svg(results, nodes)),
            scale=f"{drawings.darkest(results):.0f} requests or more",
        ),
    ]


def _robust(held: Sequence[Held]) -> list[Section]:
    text = " ".join(robust_notes(held)[len(FIGURES) :])
    return [Section("The same with engines or delays that differ", text, headings(), tuple(rows_of(held)))]


def _everything(results: Sequence[PolicyRuns]) -> Section:
    return msgspec.structs.replace(_table("Everything measured", "", results, MANY), folded=True)


def _table(title: str, text: str, results: Sequence[PolicyRuns], columns: Sequence[Column]) -> Section:
    headings = tuple(heading_of(column) for column in columns)
    return Section(title, text, headings, tuple(standing(results, columns, ends=True)))


def _swept(swept: Swept) -> list[Section]:
    label = f"{swept.scene.label}: " if swept.scene.label else ""
    typical = min(swept.points, key=lambda point: abs(point.load - 0.9))
    at = f", at {typical.rate_rps:.2f} requests/s (load {typical.load:g})"
    nodes = [node.name for node in typical.results[0].runs[0].nodes]
    return [
        Section(
            f"{label}highest rate inside the SLO",
            "Requests per second up to which so many requests are inside the SLO; shaded: the highest, and within 2 %.",
            capacity_headings(),
            tuple(capacity_rows(swept)),
        ),
        Section(
            f"{label}against load",
            "Each dot is a load that was tried; bands are intervals.",
            legend=drawing.legend(drawings.swept_looks(swept)),
            figures=tuple(drawings.load_curves_svg(swept)),
        ),
        *_shapes(typical.results, nodes, at),
        *(
            msgspec.structs.replace(
                _table(f"{label}all figures at load {point.load:g}", "", point.results, MANY), folded=True
            )
            for point in swept.points
        ),
    ]


def _labelled(swept: Swept, words: Sequence[str]) -> list[str]:
    return [f"{swept.scene.label}: {line}" if swept.scene.label else line for line in words]
