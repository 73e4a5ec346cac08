"""What commands leave behind for programs: a JSON document on stdout, an exit status."""

import sys
from typing import Any

import msgspec

FAILED = 1
INTERRUPTED = 130
"""What a shell reports for Ctrl-C."""


def write_json(document: Any) -> None:
    """Write the document to stdout, indented, with a line end."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
