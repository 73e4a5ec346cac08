"""A comparison over sockets as one HTML page."""

from typing import Any

from .columns import ARROWS, TIE, rows_of
from .page import Page
from .pages import filled, heading_of


def render(page: Page) -> str:
    """The page as HTML text. Raises MissingExtra."""
    return filled("pointsman.observe", "report.html", lambda: _content(page))


def _content(page: Page) -> dict[str, Any]:
    from . import drawing, figures

    measured = [run.figures for run in page.runs]
    return {
        "page": page,
        "arrows": ARROWS,
        "tie": f"{TIE:.0%}",
        "headings": [heading_of(column) for column in page.columns],
        "rows": rows_of(measured, page.columns),
        "bars": figures.bars_svg(page),
        "curves": figures.cdf_svg(page),
        "lines": drawing.lines([row.name for row in measured]),
        "maps": figures.timeline_svg(page),
        "shades": drawing.shades(),
        "darkest": figures.darkest(page),
    }
