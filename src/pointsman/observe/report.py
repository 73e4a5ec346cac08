"""A comparison as one HTML page that needs nothing else: figures are inline SVG, styles are inline, no script runs.

matplotlib and Jinja2 come with the extra `report` and are imported only here and in `figures`.
"""

from importlib.util import find_spec

from .columns import ARROWS, COLUMNS, TIE, Column, rows_of
from .page import Page

NEEDED = ("matplotlib", "jinja2")


class MissingExtra(RuntimeError):
    """A library that only reports need is not installed. The text says how to install it."""


def check_libraries() -> None:
    """Raises MissingExtra when a report could not be made, so that nobody finds out after measuring."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"a report needs {' and '.join(missing)}: pip install 'pointsman[report]'")


def render(page: Page) -> str:
    """The page as HTML text. Raises MissingExtra."""
    check_libraries()
    import jinja2
    import matplotlib

    from . import figures

    loader = jinja2.PackageLoader("pointsman.observe")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    measured = [run.figures for run in page.runs]
    with matplotlib.rc_context(figures.STYLE):
        return environment.get_template("report.html").render(
            page=page,
            arrows=ARROWS,
            tie=f"{TIE:.0%}",
            headings=[(_heading(column), column.measure) for column in COLUMNS],
            rows=rows_of(measured),
            bars=figures.bars_svg(page),
            curves=figures.cdf_svg(page),
            lines=figures.lines([row.name for row in measured]),
            maps=figures.timeline_svg(page),
            shades=figures.shades(),
            darkest=figures.darkest(page),
        )


def _heading(column: Column) -> str:
    return " ".join(column.heading).replace("- ", "").strip()
