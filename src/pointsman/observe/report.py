"""A comparison as one HTML page that needs nothing else: figures are inline SVG, styles are inline, no script runs.

matplotlib and Jinja2 come with the extra `report` and are imported only here and in `figures`.
"""

from importlib.util import find_spec

from .page import Page
from .table import COLUMNS, cell

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

    from .figures import STYLE, bars_svg, cdf_svg, timeline_svg

    loader = jinja2.PackageLoader("pointsman.observe")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    with matplotlib.rc_context(STYLE):
        return environment.get_template("report.html").render(
            page=page,
            headings=[" ".join(heading.replace("-\n", "").split()) for heading, _, _ in COLUMNS],
            rows=[(run.figures.name, [cell(run.figures, column) for column in COLUMNS]) for run in page.runs],
            bars=bars_svg(page),
            cdf=cdf_svg(page),
            timeline=timeline_svg(page),
        )
