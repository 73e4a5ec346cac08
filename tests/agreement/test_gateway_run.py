"""The journal of the real gateway, with real sockets and engines' real timing, replays to the same choices."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from tests.support.simulated import calls

from pointsman.demo.children import free_ports
from pointsman.observe.calls import Finished
from pointsman.observe.replay import differences, replay

REQUESTS = 60
ANSWER_TOKENS = 1000


def command(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "pointsman", *map(str, arguments)], stderr=subprocess.DEVNULL)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[tuple[str, str, Path, subprocess.Popen[bytes]]]:
    """A gateway before a fast and a slow engine: its two addresses, its journal and its process."""
    fast, slow, data, admin = free_ports(4)
    journal = tmp_path / "run.jsonl"
    common = ("--model", "m", "--time-scale", 20)
    started = [command("engine", "--port", fast, *common), command("engine", "--port", slow, "--speed", 0.3, *common)]
    settings = tmp_path / "serve.toml"
    settings.write_text(
        f"""
        listen = "127.0.0.1:{data}"
        admin_listen = "127.0.0.1:{admin}"
        journal = "{journal}"
        resume = "tokens"
        nodes = [{{ url = "http://127.0.0.1:{fast}" }}, {{ url = "http://127.0.0.1:{slow}" }}]
        timeouts = {{ lame_duck_s = 0 }}
        """
    )
    started.append(command("serve", "--config", settings))
    yield f"http://127.0.0.1:{data}", f"http://127.0.0.1:{admin}", journal, started[-1]
    for process in started:
        process.kill()
        process.wait()


async def until_both_are_up(session: aiohttp.ClientSession, admin: str) -> None:
    async with asyncio.timeout(30):
        while True:
            with suppress(aiohttp.ClientConnectionError):
                async with session.get(f"{admin}/nodes") as answer:
                    if [node["state"] for node in await answer.json()] == ["up", "up"]:
                        return
            await asyncio.sleep(0.05)


async def ask(session: aiohttp.ClientSession, data: str, number: int) -> None:
    """One streamed request of ten sessions; every eighth client leaves after the first byte."""
    content = f"session {number % 10} " + "word " * 600 + str(number)
    body = {"model": "m", "stream": True, "max_tokens": 20, "messages": [{"role": "user", "content": content}]}
    async with session.post(f"{data}/v1/chat/completions", json=body) as answer:
        assert answer.status == 200
        if number % 8 == 0:
            await answer.content.readany()
            answer.close()
        else:
            assert (await answer.read()).endswith(b"data: [DONE]\n\n")


async def test_a_journal_of_the_gateway_replays_to_the_same_choices(
    fleet: tuple[str, str, Path, subprocess.Popen[bytes]],
) -> None:
    data, admin, journal, gateway = fleet
    async with aiohttp.ClientSession() as session:
        await until_both_are_up(session, admin)
        for policy in ("fastest_completion", "two_choices"):
            async with session.put(f"{admin}/policy", json={"policy": policy}) as answer:
                assert answer.status == 200
            await asyncio.gather(*(ask(session, data, number) for number in range(REQUESTS // 2)))
    gateway.terminate()
    await asyncio.to_thread(gateway.wait)
    lines = journal.read_bytes().splitlines()
    assert len(replay(lines)) == REQUESTS
    assert differences(lines) == []


async def test_streams_taken_off_a_node_are_told_as_the_simulator_tells_them_and_replay(
    fleet: tuple[str, str, Path, subprocess.Popen[bytes]],
) -> None:
    """An interruption with what it had delivered, a new first token, and an end that counts the whole answer."""
    data, admin, journal, gateway = fleet
    async with aiohttp.ClientSession() as session:
        await until_both_are_up(session, admin)
        asking = [asyncio.create_task(whole(session, data, number)) for number in range(8)]
        node = await until_one_writes(session, admin)
        change = {"drain": True, "limit_s": 0.0}
        async with session.patch(f"{admin}/nodes/{quote(node, safe='')}", json=change) as answer:
            assert answer.status == 200, await answer.text()
        assert all(await asyncio.gather(*asking))
    gateway.terminate()
    await asyncio.to_thread(gateway.wait)
    lines = journal.read_bytes().splitlines()
    assert differences(lines) == []
    ended = [call.outcome for call in calls(lines) if isinstance(call, Finished)]
    interrupted = [outcome for outcome in ended if outcome.verdict == "interrupted"]
    assert interrupted
    assert all(outcome.resumable and outcome.new_tokens for outcome in interrupted if outcome.delivered)
    assert [outcome.completion_tokens for outcome in ended if outcome.verdict == "ok"] == [ANSWER_TOKENS] * 8


async def until_one_writes(session: aiohttp.ClientSession, admin: str) -> str:
    """The id of a node where an answer has begun, of the slow one if it is both: that one goes on for longer."""
    async with asyncio.timeout(30):
        while True:
            async with session.get(f"{admin}/nodes") as answer:
                for node in reversed(await answer.json()):
                    if node["running"]:
                        return str(node["id"])
            await asyncio.sleep(0.02)


async def whole(session: aiohttp.ClientSession, data: str, number: int) -> bool:
    """Whether a longer answer came to its end."""
    body = {"model": "m", "stream": True, "max_tokens": ANSWER_TOKENS, "ignore_eos": True}
    async with session.post(f"{data}/v1/completions", json=body | {"prompt": f"{number} tell me"}) as answer:
        return (await answer.read()).endswith(b"data: [DONE]\n\n") and answer.status == 200
