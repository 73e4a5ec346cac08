"""The index page: what this port answers, for whoever opens it in a browser."""

from html import escape

import pointsman
from pointsman.admin.routes import PAGES, ROUTES

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Pointsman</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem }}
td {{ padding: .2rem 1rem .2rem 0 }} code {{ white-space: nowrap }}
</style></head>
<body><h1>Pointsman {version}</h1><p>What this port answers:</p>
<table>{rows}</table></body>
</html>
"""


def index() -> str:
    """The page as HTML."""
    answered = [("GET", path, summary) for path, summary in PAGES.items()]
    answered += [(route.method, route.path, route.summary) for route in ROUTES]
    return _PAGE.format(version=escape(pointsman.__version__), rows="".join(_row(*each) for each in answered))


def _row(method: str, path: str, summary: str) -> str:
    shown = f"<code>{escape(path)}</code>"
    if method == "GET" and "{" not in path:
        shown = f'<a href="{escape(path)}">{shown}</a>'
    return f"<tr><td>{method}</td><td>{shown}</td><td>{escape(summary)}</td></tr>"
