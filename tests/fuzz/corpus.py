"""What there is to fuzz, and the inputs that once broke it."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

TARGETS = ("request", "response", "events", "relay", "body", "form", "exposition", "kv_events", "settings")
FIXTURES = Path(__file__).parents[1] / "fixtures" / "fuzz"


def inputs() -> Iterator[tuple[str, str, bytes]]:
    """Target, name and bytes of every input that is replayed: the seeds, and what fuzzing found."""
    for target in TARGETS:
        for number, seed in enumerate(import_module(f"tests.fuzz.targets.{target}").SEEDS):
            yield target, f"seed{number}", seed
        for path in sorted((FIXTURES / target).glob("*")):
            yield target, path.name, path.read_bytes()
