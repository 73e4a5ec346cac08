"""An experiment and what came of it as one HTML page."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pointsman import __version__
from pointsman.clock import unix_seconds
from pointsman.config.experiment import OURS, Paper
from pointsman.observe.drawing import svg
from pointsman.observe.pages import filled
from pointsman.simulate.experiments.charts import chart
from pointsman.simulate.experiments.claims import judged
from pointsman.simulate.experiments.layout import title
from pointsman.simulate.experiments.results import Results
from pointsman.simulate.experiments.tell import QUICK, all_sheets
from pointsman.simulate.tell import TITLE


def report(paper: Paper, results: Results) -> str:
    """The page. Raises MissingExtra where libraries for it are missing."""

    def content() -> dict[str, Any]:
        made = f"{datetime.fromtimestamp(unix_seconds()):%Y-%m-%d at %H:%M}"
        return {
            "page": {"title": paper.title, "made": f"Made by Pointsman {__version__} on {made}. {TITLE}."},
            "question": paper.question.strip().replace("`", ""),
            "quick": QUICK if results.quick else "",
            "claims": [(claim.says, list(_verdicts(paper, results, place))) for place, claim in enumerate(paper.claim)],
            "figures": [svg(chart(name, results, paper.champion or OURS)) for name in paper.chart],
            "sheets": [
                {"title": sheet.title, "headings": [(one, "") for one in sheet.head[1:]], "rows": sheet.rows}
                for sheet in all_sheets(paper, results)
            ],
            "scenes": list(results.notes.items()),
        }

    return filled("pointsman.simulate", "experiment.html", content)


def _verdicts(paper: Paper, results: Results, place: int) -> Iterator[dict[str, str]]:
    for one in judged(paper.claim[place], results.rows):
        word = "holds" if one.holds else "does not hold"
        yield {"word": word, "place": title((one.scene, one.load)), "measured": one.measured}
