"""How every scene is run from the command line."""

import argparse
import signal
import sys
from collections.abc import Awaitable, Callable

import aiohttp
import uvloop

from pointsman.demo.errors import DemoError
from scene.report import Report, Steps, steps

Play = Callable[[argparse.Namespace, Steps], Awaitable[Report]]


def parser(name: str, about: str | None) -> argparse.ArgumentParser:
    """A parser with what all scenes can be told."""
    made = argparse.ArgumentParser(
        prog=f"scripts/faults {name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--json", action="store_true", help="print JSON instead of tables")
    made.add_argument("--seed", type=int, default=1, help="of everything that is drawn (default: 1)")
    made.add_argument("--workers", type=int, default=1, help="of the gateway (default: 1)")
    made.add_argument("--policy", default="fastest_completion", help="of the gateway (default: %(default)s)")
    made.add_argument("--keep", metavar="FOLDER", help="put logs, audits and settings there, and leave them")
    return made


def run(options: argparse.Namespace, play: Play) -> int:
    """Play the scene, show its report; the exit status is 1 if a claim failed and 2 if it could not be played."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    try:
        with steps() as bar:
            report = uvloop.run(play(options, bar))
    except (DemoError, aiohttp.ClientError, TimeoutError, OSError) as error:
        print(f"the scene could not be played: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return report.show(options.json)
