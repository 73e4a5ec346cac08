"""What the gateway records of traffic over sockets is, simulated, the same traffic."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import msgspec
import pytest
from tests.agreement.test_gateway_run import command, until_both_are_up

from pointsman.brain.policies.registry import build
from pointsman.demo.children import free_ports
from pointsman.sim.demand import trace_demand
from pointsman.sim.experiment import Experiment, run
from pointsman.sim.fleet import NodeKind, nodes_of
from pointsman.workload.recording import as_trace
from pointsman.workload.recording_line import Recorded
from pointsman.workload.traces import read_recordings

TURNS = 4
SESSIONS = 8
SYSTEM = "You are one of many assistants, and all of them were told this. " * 40
SECRET_WORDS = "the launch code is four"


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[tuple[str, str, Path, subprocess.Popen[bytes]]]:
    """A gateway before two equal engines: its two addresses, its recording and its process."""
    one, other, data, admin = free_ports(4)
    recording = tmp_path / "traffic.jsonl"
    started = [command("engine", "--port", port, "--model", "m", "--time-scale", 20) for port in (one, other)]
    started.append(
        command(
            *("serve", "--listen", f"127.0.0.1:{data}", "--admin-listen", f"127.0.0.1:{admin}"),
            *("--node", f"http://127.0.0.1:{one}", "--node", f"http://127.0.0.1:{other}", "--recording", recording),
        )
    )
    yield f"http://127.0.0.1:{data}", f"http://127.0.0.1:{admin}", recording, started[-1]
    for process in started:
        process.kill()
        process.wait()


async def talk(session: aiohttp.ClientSession, data: str, number: int) -> int:
    """A dialogue, in which every turn resends what was said; returns how many prompt tokens the engine found cached."""
    messages = [{"role": "system", "content": SYSTEM}]
    cached = 0
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"{SECRET_WORDS} {number} {turn} " + "and so on " * 150})
        body = {"model": "m", "max_tokens": 20, "messages": messages, "user": f"ann-{number}"}
        async with session.post(f"{data}/v1/chat/completions", json=body) as answer:
            said = await answer.json()
        messages.append(said["choices"][0]["message"])
        cached += said["usage"]["prompt_tokens_details"]["cached_tokens"]
    return cached


async def recorded(fleet: tuple[str, str, Path, subprocess.Popen[bytes]]) -> tuple[list[Recorded], int, str]:
    """The lines, the cached tokens that clients were told of, and the text of the recording."""
    data, admin, path, gateway = fleet
    async with aiohttp.ClientSession() as session:
        await until_both_are_up(session, admin)
        cached = 0
        for first in range(0, SESSIONS, 2):
            cached += sum(await asyncio.gather(*[talk(session, data, first + number) for number in range(2)]))
    gateway.terminate()
    await asyncio.to_thread(gateway.wait)
    text = path.read_text()
    return read_recordings({path.name: text.splitlines()})[0], cached, text


async def test_a_recording_simulated_is_the_same_traffic(
    fleet: tuple[str, str, Path, subprocess.Popen[bytes]],
) -> None:
    lines, cached, text = await recorded(fleet)
    assert "launch" not in text
    assert "ann-" not in text
    assert len(lines) == SESSIONS * TURNS
    assert {line.outcome for line in lines} == {"ok"}
    assert sum(line.cached_length or 0 for line in lines) == cached
    trace = as_trace("recording", lines)
    by_time = sorted(lines, key=lambda line: line.timestamp)
    assert [row.prompt_tokens for row in trace.rows] == [line.input_length for line in by_time]
    assert [row.output_tokens for row in trace.rows] == [line.output_length for line in by_time]
    assert trace.seconds == pytest.approx((by_time[-1].timestamp - by_time[0].timestamp) / 1000)
    stretched = msgspec.structs.replace(  # engine seconds passed twenty times as fast
        trace, rows=tuple(msgspec.structs.replace(row, arrival_s=20 * row.arrival_s) for row in trace.rows)
    )
    seconds = stretched.seconds + 1.0
    experiment = Experiment(
        nodes=nodes_of([NodeKind(name="n", count=2)]),
        demand=trace_demand(stretched, seconds, 32_768),
        policy=build("fastest_completion"),
        seconds=seconds,
        warm_up=0.0,
    )
    hits = run(experiment, lambda _: None).summary.hit_ratio
    assert hits is not None
    assert hits == pytest.approx(cached / sum(line.input_length for line in lines), abs=0.03)
