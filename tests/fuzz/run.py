"""Fuzzes one target in this process: `python -m tests.fuzz.run TARGET [libFuzzer's options]`. Never returns."""

import sys
from importlib import import_module

import atheris


def main() -> None:
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["pointsman"]):
        target = import_module(f"tests.fuzz.targets.{name}")
    atheris.Setup(sys.argv, target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
