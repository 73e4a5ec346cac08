"""Running one case: a fresh router over the emulated engines, the requests, and what the engines say they were sent."""

import asyncio
import json
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import aiohttp
from proxies.catalogue import environment
from proxies.load import Failed
from proxies.places import program
from proxies.running import child, free_ports

from .cases import Case
from .history import SETTLED_S, History
from .workload import Ask

READY_WITHIN_S = 40.0
ENGINE = Path(__file__).with_name("engine.py")
TIMING = ("--overhead-ms", "0", "--prefill-tokens-per-second", "200000", "--decode-base-ms", "20")
"""Answers take 20 ms a token whatever the prompt, so that the fleet's state changes slowly enough to be followed."""
WORKERS = {"smg": "/workers", "sglang-router": "/workers", "vllm-router": "/list_workers"}
"""Where each router tells its workers: it is ready when it names them all."""


class Fleet:
    """Emulated engines that live until the stack is closed."""

    def __init__(self, nodes: int, folder: Path, stack: ExitStack) -> None:
        self.ports: Iterator[int] = free_ports()
        self.folder = folder
        self.engines = [next(self.ports) for _ in range(nodes)]
        for port in self.engines:
            command = [sys.executable, str(ENGINE), "engine", "--port", str(port), "--model", "m", *TIMING]
            stack.enter_context(child(command, environment(), folder / f"engine-{port}.log"))
        for port in self.engines:
            _until(lambda port=port: get(port, "/health") is not None, f"engine on port {port}")  # type: ignore[misc]

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.engines]

    def reset(self) -> None:
        for port in self.engines:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/admin/reset", data=b"", timeout=10).close()

    def placements(self) -> dict[str, int]:
        """Node by request id."""
        return {
            record["request_id"]: node
            for node, port in enumerate(self.engines)
            for record in get(port, "/admin/audit")
            if record["event"] == "start"
        }


def run(case: Case, fleet: Fleet, asks: list[Ask]) -> History:
    """Raises Failed if the router is not there, does not start, or loses a request."""
    fleet.reset()
    with _router(case, fleet) as port:
        sleep(case.wait_s)
        sent, ended, ids = asyncio.run(_drive(port, asks, case))
    placed = fleet.placements()
    if len(placed) != len(asks):
        raise Failed(f"{len(placed)} of {len(asks)} requests reached an engine")
    return History(asks, sent, ended, [placed[each] for each in ids])


@contextmanager
def _router(case: Case, fleet: Fleet) -> Iterator[int]:
    path = program(case.router)
    if path is None:
        raise Failed("not there (scripts/bench install)")
    port, own_port = next(fleet.ports), next(fleet.ports)
    log = fleet.folder / f"{case.name}.log"
    with child(case.command(path, port, own_port, fleet.urls), environment(), log):
        _until(lambda: _knows(case, port, fleet.urls), case.name)
        yield port


def _knows(case: Case, port: int, urls: list[str]) -> bool:
    told = json.dumps(get(port, WORKERS[case.router]))
    return all(url in told for url in urls)


async def _drive(port: int, asks: list[Ask], case: Case) -> tuple[list[float], list[float], list[str]]:
    """Send each ask in its turn, away from the ends of others, and wait for all.

    The times of sending and of ending, and the ids by which the engines know the requests: those are in their answers.
    (An id of ours in a header would not do: a router may take it for what to route by.)
    """
    sent, ended, ids = [0.0] * len(asks), [0.0] * len(asks), [""] * len(asks)
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    last_end = 0.0

    async def ask(number: int, session: aiohttp.ClientSession) -> None:
        nonlocal last_end
        each = asks[number]
        messages = [{"role": "user", "content": each.prompt}]
        body = {"model": "m", "messages": messages, "max_tokens": each.max_tokens}
        headers = {}
        if case.sessions:
            body["user"] = headers["x-session-id"] = each.session
        async with session.post(url, json=body, headers=headers) as answer:
            text = await answer.text()
            ended[number] = last_end = monotonic()
            if answer.status != 200:
                raise Failed(f"status {answer.status}: {text}")
            ids[number] = json.loads(text)["id"].partition("-")[2]

    connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=60.0)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        asking = []
        for number, each in enumerate(asks):
            await asyncio.sleep(each.gap_s)
            while (left := last_end + SETTLED_S - monotonic()) > 0.0:
                await asyncio.sleep(left)
            sent[number] = monotonic()
            asking.append(asyncio.create_task(ask(number, session)))
        await asyncio.gather(*asking)
    return sent, ended, ids


def get(port: int, path: str) -> Any:
    """The JSON answer, True for an empty one, None if there is none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            text = answer.read()
    except OSError:
        return None
    return json.loads(text) if text else True


def _until(holds: Any, what: str) -> None:
    deadline = monotonic() + READY_WITHIN_S
    while not holds():
        if monotonic() > deadline:
            raise Failed(f"{what}: not ready after {READY_WITHIN_S:.0f} s")
        sleep(0.1)
