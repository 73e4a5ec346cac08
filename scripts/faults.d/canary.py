"""Keys of clients and of nodes appear nowhere but where they belong, whatever goes wrong.

Canary keys are sent in every way, right and wrong, well-formed and not; engines fail in every way; settings are read
again with other keys and with mistakes. Then everything written or said is searched for every form of every key: the
log at its most talkative, journal, recording, audits, metrics, each page of the admin port, answers, and the bytes
between gateway and engines, where the node's key may stand in its own header and no key of a client may stand at all.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Iterable, Sequence

from scene.canaries import Canary
from scene.mistakes import mistaken, refused_starts
from scene.phases import until
from scene.recorded import Recorded
from scene.report import Report, Steps
from scene.running import parser, run
from scene.settings import engine, played, settings
from scene.temptations import Temptation, a_plain_answer, a_stream, with_right_key, with_wrong_key
from scene.world import Plan, world

FAULTS = (
    {"kind": "garbage"},
    {"kind": "reset_after_events"},
    {"kind": "reset_after_events", "n": 2},
    {"kind": "inband_error", "n": 2},
    {"kind": "status", "status": 500},
    {"kind": "status", "status": 401},
    {"kind": "status", "status": 429},
)
PAGES = ("/", "/metrics", "/openapi.json", "/healthz", "/readyz", "/nodes", "/nodes/a", "/nodes/none", "/policy")
MORE_PAGES = ("/queue", "/queue.html", "/decisions?n=1000", "/decisions/none", "/nothing")
NODE_LINE = b"authorization: Bearer "
Said = dict[str, bytes]
"""What was written or said, by where."""


async def play(options: argparse.Namespace, steps: Steps) -> Report:
    report = Report("canary", dict(played(options)))
    client, other, node, wrong = (Canary.of(name, options.seed) for name in ("client", "other", "node", "wrong"))
    keys = {"api_keys": [client.key], "node_key": node.key, "log_level": "debug"}
    plan = Plan(
        engine(5.0, 64, api_key=node.key), settings(options, **keys), {"models": ["m"]}, workers=options.workers
    )
    async with world(plan, options.keep, kind=Recorded) as here:
        steps.say("sending keys in every way")
        answers = await tempt(report, here, with_right_key(client.key) + with_wrong_key(wrong.key))
        steps.say("engines fail")
        answers += await fail(here, client)
        steps.say("settings with other keys, and with mistakes")
        answers += await reload(report, here, client, other)
        said = {"answers to clients": answers, "admin port": await admin_pages(here)}
        said["refused starts"] = await refused_starts(here.folder, other.key)
        here.gateway.signal(signal.SIGTERM)
        await asyncio.to_thread(here.gateway.reap)
        await here.stop()
        said |= here.written()
        said["engines' answers"] = b"".join(bytes(tee.answered) for tee in here.tees.values())
        search(report, said, (client, other, node, wrong))
        search_wire(report, here, (client, other, wrong), node)
    return report


async def tempt(report: Report, here: Recorded, temptations: list[Temptation]) -> bytes:
    """All answers; they must have the status that is expected."""
    answers = await asyncio.gather(*[each.sent(here.gateway.port) for each in temptations])
    odd = [
        f"{each.name}: {answer[:40]!r}"
        for each, answer in zip(temptations, answers, strict=True)
        if each.status and not answer.startswith(b"HTTP/1.1 %d " % each.status)
    ]
    report.claim("right keys are let in, wrong ones are not", not odd, odd[:3] or f"{len(temptations)} requests")
    return b"\n".join(answers)


async def fail(here: Recorded, client: Canary) -> bytes:
    """Answers while every engine fails, in one way after another."""
    answers = b""
    for fault in FAULTS:
        for each in here.engines.values():
            await here.fault(each, **fault)
        for temptation in (a_stream(client.key), a_plain_answer(client.key)):
            answers += await temptation.sent(here.gateway.port)
        await here.heal()
    return answers


async def reload(report: Report, here: Recorded, client: Canary, other: Canary) -> bytes:
    """Answers under another key of clients, after files with mistakes, and with a key that the nodes refuse."""
    for text in mistaken(other.key):
        await reread(here, text)
    kept = await a_plain_answer(client.key).sent(here.gateway.port)
    await reread(here, here.gateway.text_with(api_keys=[other.key]))
    old, new = [await a_plain_answer(key).sent(here.gateway.port) for key in (client.key, other.key)]
    statuses = [answer[9:12].decode() for answer in (kept, old, new)]
    report.claim("a mistaken file changes nothing, a right one the keys", statuses == ["200", "401", "200"], statuses)
    await reread(here, here.gateway.text_with(api_keys=[other.key], node_key=other.key))
    return kept + old + new + await a_plain_answer(other.key, status=0).sent(here.gateway.port)


async def reread(here: Recorded, text: str) -> None:
    """Have the gateway read this file, and wait until it has told what it makes of it."""
    log, told = here.gateway.log, b"configuration"
    before = log.read_bytes().count(told)
    here.gateway.config.write_text(text)
    here.gateway.signal(signal.SIGHUP)
    await until(lambda: log.read_bytes().count(told) > before)


async def admin_pages(here: Recorded) -> bytes:
    decisions = await here.admin.get("/decisions?n=1000")
    pages = [*PAGES, *MORE_PAGES, *[f"/decisions/{each['request_id']}" for each in decisions[:20]]]
    return "\n".join([await here.admin.text(page) for page in pages]).encode()


def search(report: Report, said: Said, canaries: Sequence[Canary]) -> None:
    missed = [text for canary in canaries for text in canary.planted() if not canary.found(text)]
    report.claim("the search finds what is there", not missed, missed or "every form of every key")
    table = report.table("searched", "where", "bytes", "found")
    for where, text in said.items():
        found = [form for canary in canaries for form in canary.found(text)]
        table.rows.append((where, len(text), ", ".join(found) or "nothing"))
        report.claim(f"no key in: {where}", text and not found, found or "nothing found")


def search_wire(report: Report, here: Recorded, clients: Iterable[Canary], node: Canary) -> None:
    asked = b"".join(bytes(tee.asked) for tee in here.tees.values())
    found = [form for canary in clients for form in canary.found(asked) if canary.name != "other"]
    report.claim("no key of a client reaches an engine", asked and not found, found or f"none in {len(asked)} bytes")
    there, right = asked.count(node.core.encode()), asked.count(NODE_LINE + node.key.encode() + b"\r\n")
    report.claim("the node's key reaches engines, in its header only", 0 < there == right, f"{right} of {there} times")


def arguments() -> argparse.Namespace:
    return parser("canary", __doc__).parse_args()


if __name__ == "__main__":
    sys.exit(run(arguments(), play))
