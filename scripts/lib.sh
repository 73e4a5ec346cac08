# Sourced by the developer's scripts: run from the project's root, with the developer's tools at hand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! .venv/bin/python -c 'import pytest, mypy, ruff, importlinter' 2>/dev/null; then
    scripts/install dev
fi
PATH="$PWD/.venv/bin:$PATH"
