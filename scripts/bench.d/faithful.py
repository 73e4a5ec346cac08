"""Do our versions of other routers' rules decide as those routers do? Asked of the real ones, over emulated engines.

Each router is started over four emulated engines and sent the same requests, one after the other, slowly enough that
what is running at each decision is known. Then our rule is asked for the same decisions, on a view built from what the
router did: the share it would have made alike, and the first differences. `scripts/bench install` brings the routers.
"""

import argparse
import json
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import aiohttp
from fidelity.cases import Case, cases
from fidelity.compare import compare
from fidelity.run import Fleet, run
from fidelity.told import Row, as_json, as_table
from fidelity.workload import asks
from proxies.load import Failed
from proxies.places import VERSIONS
from rich.console import Console

NODES = 4


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    chosen = [each for each in cases() if each.name.startswith(tuple(options.only))]
    with tempfile.TemporaryDirectory(prefix="faithful-") as folder, ExitStack() as stack:
        fleet = Fleet(NODES, Path(folder), stack)
        rows = [judged(case, fleet, options) for case in chosen]
    for row in rows:
        if row.why:
            print(f"scripts/bench faithful: skipped {row.case.name}: {row.why}", file=sys.stderr)
    if options.json:
        print(json.dumps(as_json(rows, VERSIONS), indent=1))
    else:
        Console(width=None if sys.stdout.isatty() else 110).print(as_table([row for row in rows if not row.why]))
    return 0 if any(not row.why for row in rows) else 1


def judged(case: Case, fleet: Fleet, options: argparse.Namespace) -> Row:
    print(f"scripts/bench faithful: {case.name}", file=sys.stderr)
    try:
        history = run(case, fleet, asks(options.decisions, options.seed))
    except (Failed, OSError, aiohttp.ClientError) as failed:
        return Row(case, why=str(failed) or type(failed).__name__)
    return Row(case, [compare(history, NODES, rule) for rule in case.rules])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench faithful", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, differences and all, instead of a table")
    parser.add_argument(
        "--decisions", type=int, choices=range(10, 2001), default=160, metavar="N", help="of each run (default: 160)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the requests (default: 1)")
    parser.add_argument("--only", type=names, default=[""], metavar="A,B", help="runs whose names begin so")
    return parser.parse_args()


def names(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    sys.exit(main())
