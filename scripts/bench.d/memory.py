"""What is kept of a million different prompts at a fixed budget of blocks: nothing but what the nodes could hold.

Nobody asks twice: each request has a prompt, an id and a session of its own, while nodes restart and are replaced by
others with other names. So whatever is remembered by prompt, session, request or node grows here, unless it is let go.
Readings are taken at equal distances, the first one after a tenth. The dispatcher is watched as the gateway's is.
"""

import argparse
import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from rich.progress import track

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.decisions import Decisions
from pointsman.observe.metrics import Metrics

NODES = 4
LINKS = 8
LINK_TOKENS = 64
KV_TOKENS = 131_072
AT_ONCE = 32
READINGS = 10
FLAT = 0.05
RESTART_EVERY = 1_000
REPLACE_EVERY = 5_000
"""Prompts between two restarts, and between two nodes that leave for another to come."""
MIB = 1 << 20
DONE = Outcome(verdict=Verdict.OK, prompt_tokens=LINKS * LINK_TOKENS, completion_tokens=16, cached_tokens=0)


@dataclass(frozen=True, slots=True)
class Reading:
    """`held` are links that nodes are believed to hold now, `entries` what the table of links has."""

    prompts: int
    resident_mib: float
    entries: int
    held: int


class Strangers:
    """Requests that have nothing in common, before a fleet that changes."""

    def __init__(self, policy: str) -> None:
        self.dispatcher = Dispatcher(BrainSettings(), PolicyTable(build(policy)))
        self.dispatcher.subscribe(Metrics().handlers)
        self.dispatcher.subscribe(Decisions(self.dispatcher.fleet).handlers)
        self._random = Random(1)
        self._running: deque[int] = deque()
        self._nodes: deque[str] = deque()
        self._now = 0.0
        for number in range(NODES):
            self._join(number)

    def ask(self, number: int) -> None:
        """One more prompt; the oldest answer is complete, and perhaps something happens to a node."""
        self._now += 0.01
        links = [self._random.getrandbits(63) for _ in range(LINKS)]
        request = Request(
            id=f"r{number}", model="m", chain=Chain("bytes", links, float(LINK_TOKENS)), stream=True,
            prompt_tokens=float(LINKS * LINK_TOKENS), max_tokens=16 + number % 500, session=f"s{number}",
        )  # fmt: skip
        first = self.dispatcher.submit(request, self._now)[0]
        assert isinstance(first, Start), first
        self._running.append(first.lease)
        self.dispatcher.first_token(first.lease, self._now)
        if len(self._running) > AT_ONCE:
            self.dispatcher.finished(self._running.popleft(), DONE, self._now)
        if number % REPLACE_EVERY == 0:
            self._replace(number)
        elif number % RESTART_EVERY == 0:
            self._report(self._nodes[0], started_at=self._now)
        self.dispatcher.tick(self._now)

    def read(self, prompts: int) -> Reading:
        """What is kept after so many."""
        placement, rows = self.dispatcher.placement, self.dispatcher.fleet.rows()
        return Reading(prompts, resident() / MIB, len(placement.index), sum(map(placement.index.held, rows)))

    def _join(self, number: int) -> None:
        spec = NodeSpec(url=f"http://10.0.0.1:{number}", models=("m",), kv_tokens=KV_TOKENS, slots=AT_ONCE)
        self.dispatcher.add_node(spec, self._now)
        self._nodes.append(spec.name)
        self._report(spec.name, started_at=self._now)

    def _replace(self, number: int) -> None:
        self._join(NODES + number)
        self.dispatcher.remove_node(self._nodes.popleft(), self._now)

    def _report(self, node: str, started_at: float) -> None:
        self.dispatcher.report(NodeReport(node=node, ok=True, running=0, started_at=started_at), self._now)


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def readings(prompts: int, policy: str, *, silent: bool) -> Iterator[Reading]:
    """One after each tenth of so many prompts."""
    strangers = Strangers(policy)
    for number in track(range(1, prompts + 1), "prompts", disable=silent, update_period=1.0):
        strangers.ask(number)
        if number % (prompts // READINGS) == 0:
            yield strangers.read(number)


def flat(taken: list[Reading]) -> bool:
    """Whether memory stays within 5 % of what it was at first, and entries follow what is held."""
    first = taken[0].resident_mib
    most = NODES * KV_TOKENS // LINK_TOKENS
    return all(abs(each.resident_mib / first - 1.0) <= FLAT and each.entries <= 2 * most for each in taken)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench memory", description=__doc__)
    parser.add_argument("--prompts", type=int, default=1_000_000, help="all different (default: 1,000,000)")
    parser.add_argument("--policy", choices=sorted(POLICIES), default="fastest_completion", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    taken = list(readings(arguments.prompts, arguments.policy, silent=arguments.json))
    held = flat(taken)
    if arguments.json:
        print(json.dumps({"flat": held, "readings": [asdict(each) for each in taken]}, indent=1))
        return 0 if held else 1
    print(f"{'prompts':>10} {'MiB resident':>13} {'entries':>9} {'links held':>11}")
    for each in taken:
        print(f"{each.prompts:>10,} {each.resident_mib:>13.1f} {each.entries:>9,} {each.held:>11,}")
    print("flat: within 5 % of the first reading" if held else "NOT FLAT: something that is over is still remembered")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
