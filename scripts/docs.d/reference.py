"""Writes docs/reference and the page of results; with `check`, fails if a page that is there differs."""

import sys
from pathlib import Path

import api
import metrics
import policies
import results
import settings
import states

DOCS = Path(__file__).parents[2] / "docs"
NOTE = "<!-- Made by scripts/docs from the code: change it there. -->\n\n"
PAGES = {
    "explanation/results.md": results.page,
    "reference/admin-api.md": api.page,
    "reference/configuration.md": settings.page,
    "reference/metrics.md": metrics.page,
    "reference/node-states.md": states.page,
    "reference/policies.md": policies.page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `check` say which are out of date."""
    if arguments not in ([], ["check"]):
        print("usage: scripts/docs [check]", file=sys.stderr)
        return 2
    stale = []
    for name, page in PAGES.items():
        text = NOTE + page().rstrip() + "\n"
        path = DOCS / name
        if arguments == ["check"]:
            stale += [name] if not path.exists() or path.read_text(encoding="utf-8") != text else []
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if not arguments:
        for name, text in results.figures().items():
            path = DOCS / "explanation" / "figures" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"out of date in docs: {', '.join(stale)}; run scripts/docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
