"""Reports as one HTML file that needs nothing else: figures are inline SVG, styles are inline, no script runs.

matplotlib and Jinja2 come with the extra `report` and are imported when a page is made. Every page extends
`frame.html`, and is built of the macros of `parts.html`.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from .columns import Column

NEEDED = ("matplotlib", "jinja2")


class MissingExtra(RuntimeError):
    """A library that only reports need is not installed. The text says how to install it."""


def check_libraries() -> None:
    """Raises MissingExtra when a report could not be made, so that nobody finds out after measuring."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"a report needs {' and '.join(missing)}: pip install 'pointsman[report]'")


def filled(package: str, template: str, content: Callable[[], dict[str, Any]]) -> str:
    """The template of that package as HTML text; figures may be drawn in `content`. Raises MissingExtra."""
    check_libraries()
    import jinja2
    import matplotlib

    from .drawing import STYLE

    packages = dict.fromkeys((package, "pointsman.observe"))
    loader = jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in packages])
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    with matplotlib.rc_context(STYLE):
        return environment.get_template(template).render(**content())


def heading_of(column: Column) -> tuple[str, str]:
    """A column's heading in one line, and its measure."""
    return " ".join(column.heading).replace("- ", "").strip(), column.measure
