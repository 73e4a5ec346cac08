"""Writes docs/reference from the code; with `check`, fails if what is there differs."""

import sys
from pathlib import Path

import api
import metrics
import policies
import settings
import states

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
NOTE = "<!-- Made by scripts/docs from the code: change it there. -->\n\n"
PAGES = {
    "admin-api.md": api.page,
    "configuration.md": settings.page,
    "metrics.md": metrics.page,
    "node-states.md": states.page,
    "policies.md": policies.page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `check` say which are out of date."""
    if arguments not in ([], ["check"]):
        print("usage: scripts/docs [check]", file=sys.stderr)
        return 2
    stale = []
    for name, page in PAGES.items():
        text = NOTE + page().rstrip() + "\n"
        path = REFERENCE / name
        if arguments == ["check"]:
            stale += [name] if not path.exists() or path.read_text(encoding="utf-8") != text else []
        else:
            REFERENCE.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"out of date in docs/reference: {', '.join(stale)}; run scripts/docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
