"""Every fault at every moment of a request, for streams and plain answers, clients that stay and that leave.

Each cell runs on real sockets: a gateway, two nodes that serve a model of the cell's own, each a fault proxy before an
emulated engine. The result is compared with the one that the rules want, and the client's log, the gateway's facts and
the engines' audit are joined: one ending, no second start once bytes are with the client, no byte made up or repeated,
every account at zero, no engine that goes on for nobody. `tests/faults` holds the cells and the rules.
"""

import argparse
import json
import signal
import sys
from pathlib import Path

import uvloop
from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.cells import CELLS, QUICK
from tests.faults.matrix import playable, rounds
from tests.faults.play import Played
from tests.faults.report import as_json, as_table, matching


def main() -> int:
    options = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    cells, skipped = playable(matching(QUICK if options.quick else CELLS, options.k))
    if not cells:
        print(f"scripts/faults matrix: no cell is named by {options.k}", file=sys.stderr)
        return 2
    with Progress(console=Console(stderr=True), disable=options.json or not sys.stderr.isatty()) as progress:
        bar = progress.add_task("cells", total=len(cells) * options.repeats)

        def on_played(played: Played) -> None:
            progress.advance(bar)
            for problem in played.problems:
                progress.console.print(f"{played.cell} (late: {played.late_s:.2f} s): {problem}", markup=False)

        results = uvloop.run(rounds(cells, options.repeats, on_played))
    told = as_json(results, skipped)
    if options.json:
        print(json.dumps(told, indent=1))
    else:
        _tell(as_table(results), told)
    return 1 if told["failed"] or told["wrong"] else 0


def _tell(table: object, told: dict[str, object]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    if told["skipped"]:
        console.print(f"skipped: {told['skipped']}")
    if told["played_again"]:
        console.print(f"{told['played_again']} plays proved nothing, since the machine stood still, and were repeated")
    for key in ("failed", "wrong"):
        for each in told[key]:  # type: ignore[attr-defined]
            console.print(f"{key}: {each}", markup=False)
    console.print(
        f"{told['passed']} of {told['played']} passed ({told['cells']} cells, {told['rounds']} rounds of "
        f"{told['round_seconds']} s; slowest: {told['slowest'][0]})"  # type: ignore[index]
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/faults matrix", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="times all cells are played (default: 1)")
    parser.add_argument("--quick", action="store_true", help="the sample that the tests play")
    parser.add_argument("-k", action="append", default=[], metavar="WORD", help="only cells with WORD in their names")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
