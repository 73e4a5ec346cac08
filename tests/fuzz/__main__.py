"""`python -m tests.fuzz [TARGET...] [--seconds S] [--seed N]`: each target for S seconds, in a process of its own.

An input that breaks a promise is printed with what went wrong and where it was written; once the fault is mended it
moves to tests/fixtures/fuzz/TARGET and is replayed for ever.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.corpus import FIXTURES, TARGETS

FOUND = Path(".fuzz")
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
_NOISE = re.compile(
    r"^(INFO|WARNING|#\d+|stat::|Instrumenting|Done|\s*NEW_FUNC|###|\"|SUMMARY|MS:|0x|\\|artifact_prefix)"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="Fuzz what reads strangers' bytes.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--seconds", type=int, default=2, help="for each target (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="0 for another one each time (default: %(default)s)")
    asked = parser.parse_intermixed_args()
    if unknown := set(asked.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are: {', '.join(TARGETS)}")
    if find_spec("atheris") is None:
        print(
            "scripts/fuzz: skipped: atheris is not installed: .venv/bin/pip install -e '.[fuzz]' (Python 3.11 to 3.13)"
        )
        return 0
    return max([fuzz(name, asked.seconds, asked.seed) for name in asked.targets or TARGETS])


def fuzz(name: str, seconds: int, seed: int) -> int:
    """Fuzz one target and say in a line how it went; equal seeds try equal inputs. Returns 1 if something was found."""
    target = import_module(f"tests.fuzz.targets.{name}")
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        corpus = Path(directory)
        for number, sample in enumerate(target.SEEDS):
            (corpus / f"seed{number}").write_bytes(sample)
        words = corpus.with_suffix(".dict")
        words.write_text("".join(f'"{_quoted(word)}"\n' for word in target.WORDS))
        options = [
            f"-seed={seed}",
            f"-max_total_time={seconds}",
            "-max_len=2000",
            "-timeout=10",
            "-print_final_stats=1",
        ]
        places = [f"-dict={words}", f"-artifact_prefix={FOUND}/{name}-", str(corpus), *fixtures(name)]
        command = [sys.executable, "-m", "tests.fuzz.run", name, *options, *places]
        run = subprocess.run(command, capture_output=True, text=True, errors="replace")
        words.unlink()
    executed = _EXECUTED.search(run.stderr)
    count = f"{int(executed[1]):,}" if executed else "no"
    print(
        f"{name}: {count} inputs in {seconds} s, {'nothing' if run.returncode == 0 else 'something'} found", flush=True
    )
    if run.returncode:
        lines = (run.stdout + run.stderr).splitlines()
        print("\n".join(line for line in lines if not _NOISE.match(line)))
    return int(run.returncode != 0)


def fixtures(name: str) -> list[str]:
    place = FIXTURES / name
    return [str(place)] if place.is_dir() else []


def _quoted(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
