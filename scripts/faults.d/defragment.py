"""A long request fits on no engine although all together have room; streams are moved, and it is placed.

Two streams run on each of three engines, and what is free there is too little for a long request, which waits. The plan
is asked for, which changes nothing, and then carried out. Every text is compared with what an undisturbed engine
writes, to the byte.
"""

import argparse
import asyncio
import sys
from collections import Counter
from itertools import pairwise

from scene.asks import Asks, Shape
from scene.client import Answer, Connection
from scene.phases import until
from scene.report import Report, Steps, ms
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import engine, played, settings
from scene.usage import open_files
from scene.world import Plan, World, world

GAP_MS = 10.0
BLOCKS, BLOCK = 100, 16
LARGE, SMALL, LONG = 500, 250, 1050
"""Tokens of answers. A large and a small one leave some 45 of an engine's 100 blocks, and the long one takes 70."""


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report("defragment", dict(played(options)))
    flags = {"kv_blocks": BLOCKS, "block_size": BLOCK, "max_model_len": BLOCKS * BLOCK}
    brain = {"seed": options.seed, "output_quantile": 1.0, "slow_start_s": 0.0}
    plan = Plan(
        engine(GAP_MS, 16, **flags),
        settings(options, resume="tokens", brain=brain),
        {"slots": 16, "kv_tokens": BLOCKS * BLOCK, "block_tokens": BLOCK},
    )
    async with world(plan, options.keep) as here:
        asks = Asks(Shape((1, 1), (10, 12)), options.seed)
        files = open_files(here.pids())
        steps.say("two streams on each engine, and one that fits on none")
        connections = [await Connection.to(here.gateway.port) for _ in range(7)]
        last, tokens = connections.pop(), (LARGE,) * 3 + (SMALL,) * 3
        answers = [await started(each, asks, size) for each, size in zip(connections, tokens, strict=True)]
        long = last.send(asks.next(stream=True, tokens=LONG))
        await asyncio.sleep(0.3)
        await gathered(report, here, long)
        await until(lambda: bool(long.moments), 5.0)
        first = min((each.ended_at for each in answers if each.ended_at), default=float("inf"))
        report.claim("the long one begins before any other has ended", long.moments[0] < first, f"{len(answers)} run")
        await until(lambda: all(each.ended_at for each in [*answers, long]), 60.0)
        verdicts = Counter(each.verdict for each in [*answers, long])
        report.claim("every text is the undisturbed one", set(verdicts) == {"ok"}, dict(verdicts))
        pause = max(after - at for one in answers for at, after in pairwise(one.moments))
        report.claim("whoever was moved paused for less than a second", pause < 1.0, ms(pause))
        for each in [*connections, last]:
            each.close()
        await claim_rest(report, here, files)
    return report


async def started(connection: Connection, asks: Asks, tokens: int) -> Answer:
    """A stream that has begun."""
    answer = connection.send(asks.next(stream=True, tokens=tokens))
    await until(lambda: bool(answer.moments), 10.0)
    return answer


async def gathered(report: Report, here: World, long: Answer) -> None:
    """The plan, and then what it says."""
    planned = await defragment(here, "true")
    report.claim("a dry run tells one plan", len(planned) == 1 and len(planned[0]["moved"]) == 1, planned)
    report.claim("and changes nothing", not long.moments and await defragment(here, "true") == planned, len(planned))
    done = await defragment(here, "false")
    report.claim("what is done is what was told", done == planned, done)


async def defragment(here: World, dry_run: str) -> list[dict[str, object]]:
    url = f"{here.gateway.admin_url}/cache/defragment"
    async with here.session.post(url, params={"dry_run": dry_run}) as answer:
        answer.raise_for_status()
        found: list[dict[str, object]] = await answer.json()
        return found


def arguments() -> argparse.Namespace:
    made = parser("defragment", __doc__)
    made.set_defaults(policy="greedy")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
