"""CPU per request and per streamed chunk, added latency and memory of our gateway beside other proxies.

Everything runs on this machine: two backends that answer at once or stream 50 chunks at 20 ms, the proxies, and raw
keep-alive clients here. CPU is that of a proxy's process tree alone, so that clients and backends do not count; latency
is that of one request at a time, less that of asking the backend itself. Machines differ and are noisy: compare the
rows of one run. `scripts/bench install` brings the peers.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import uvloop
from proxies.catalogue import catalogue
from proxies.comparison import Comparison, Effort
from proxies.places import ROOT
from proxies.summary import as_json, as_table
from rich.console import Console


def main() -> int:
    options = arguments()
    build = "interpreted" if options.interpreted else compiled()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    proxies = [each for each in catalogue(options.policies) if each.name.startswith(tuple(options.only))]
    with tempfile.TemporaryDirectory(prefix="relay-") as folder, ExitStack() as stack:
        comparison = Comparison(Effort(options.seconds, options.repeats, options.rate), Path(folder), stack)
        rows = uvloop.run(comparison.run(proxies))
    for name, why in comparison.skipped.items():
        print(f"scripts/bench relay: skipped {name}: {why}", file=sys.stderr)
    if options.json:
        print(json.dumps(as_json(rows, comparison.measured_backend(), comparison.skipped, build), indent=1))
    elif rows:
        Console(width=None if sys.stdout.isatty() else 100).print(as_table(rows, comparison.measured_backend(), build))
    return 0 if rows else 1


def compiled() -> str:
    """Let what is started from here on find the compiled package first; how the gateway will run."""
    done = subprocess.run([ROOT / "scripts" / "compiled"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return "interpreted"
    os.environ["PYTHONPATH"] = done.stdout.strip()
    return "compiled"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench relay", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement (default: 3)")
    parser.add_argument(
        "--repeats", type=int, choices=range(1, 100), default=3, metavar="N", help="times all are measured (default: 3)"
    )
    parser.add_argument("--rate", type=float, default=2000.0, help="plain requests/s; 0: as answered (default: 2000)")
    parser.add_argument("--policies", type=names, default=["jffc"], metavar="A,B", help="of ours (default: jffc)")
    parser.add_argument("--only", type=names, default=[""], metavar="A,B", help="proxies whose names begin so")
    parser.add_argument("--interpreted", action="store_true", help="measure ours as developers run it, not compiled")
    return parser.parse_args()


def names(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    sys.exit(main())
