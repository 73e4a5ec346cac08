"""Flags as people type them: by their whole names, and what is wrong is told in one line."""

import argparse
import difflib
from collections.abc import Sequence
from typing import Any, NoReturn

USAGE_ERROR = 2


class Arguments(argparse.ArgumentParser):
    """A parser that completes no flag: `--report` must not become `--report-delay-s` where there is no `--report`."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def flags(self, arguments: Sequence[str]) -> dict[str, Any]:
        """What `arguments` say, by setting. Ends the process with one line on stderr where they cannot be used."""
        given, unknown = self.parse_known_args(arguments)
        if unknown:
            self.error(self._unknown(unknown[0]))
        return vars(given)

    def error(self, message: str) -> NoReturn:
        """One line rather than all flags: those are what `--help` is for."""
        self.exit(USAGE_ERROR, f"{self.prog}: {message}; `{self.prog} --help` lists the flags\n")

    def _unknown(self, argument: str) -> str:
        if not argument.startswith("-"):
            return f"{argument!r} belongs to no flag (a file of settings is given as --config FILE)"
        flag = argument.partition("=")[0]
        near = difflib.get_close_matches(flag, self._option_string_actions, n=1)
        return f"there is no {flag}" + (f"; did you mean {near[0]}?" if near else "")
