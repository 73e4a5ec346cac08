"""Workers end, are ended and are replaced; clients hardly notice."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
from tests.e2e.gateway.conftest import Client
from tests.faults.lateness import Lateness

from pointsman.demo.children import free_ports
from pointsman.observe.calls import Call, Entry, Hear, Submit

from .conftest import Engine, Site


async def test_a_rolling_restart_fails_no_request(site: Site) -> None:
    await site.start(Engine(gap_s=0.005), Engine(gap_s=0.005))
    before = await site.workers()
    done = asyncio.Event()

    async def client() -> list[int]:
        """Keeps a connection for as long as it is let, with pauses in which it is idle."""
        statuses = []
        while not done.is_set():
            async with Client(site.port) as kept:
                last = False
                while not (last or done.is_set()):
                    status, last = await site.ask(kept)
                    statuses.append(status)
                    await asyncio.sleep(0.01)
        return statuses

    clients = [asyncio.ensure_future(client()) for _ in range(16)]
    await asyncio.sleep(0.3)
    site.process.send_signal(signal.SIGUSR2)
    await site.until(lambda: site.replaced(before), 20.0)
    done.set()
    statuses = [status for each in await asyncio.gather(*clients) for status in each]
    assert set(statuses) == {200}
    await site.until(site.at_rest)
    assert (await site.metrics())["pointsman_requests_total"] == len(statuses)
    words = await site.words()
    assert "all workers are replaced" in words
    assert "Traceback" not in words


async def test_a_worker_ignores_what_only_its_supervisor_obeys(site: Site) -> None:
    await site.start(Engine())
    before = await site.workers()
    for number in (signal.SIGHUP, signal.SIGUSR2):
        os.kill(before[0], number)
    assert await site.one() == 200
    assert await site.workers() == before
    assert f"; supervisor: {site.process.pid}" in await site.words()


async def test_a_worker_that_is_killed_is_followed_by_another(site: Site) -> None:
    journals = site.folder / "journals"
    journals.mkdir()
    await site.start(Engine(held=True), slots=64, more=f'journal = "{journals}/run.jsonl"')
    before = await site.workers()
    streams = [asyncio.ensure_future(site.one()) for _ in range(30)]
    await site.run(30)
    os.kill(before[0], signal.SIGKILL)
    await site.until(lambda: some_have_ended(streams))
    site.go_on()
    ends = await asyncio.gather(*streams, return_exceptions=True)
    assert 5 <= sum(end == 200 for end in ends) < 30  # those of the other worker
    await site.until(site.at_rest)  # what it had booked is gone with it
    assert await asyncio.gather(*[site.one() for _ in range(20)]) == [200] * 20  # waits for the new one, or the other
    now = await site.workers()
    assert len(now) == 2
    assert before[1] in now
    assert (await site.metrics())["pointsman_worker_restarts_total"] == 1
    await while_none_can_be_had_the_others_have_all_connections(site, journals)
    words = await site.words()
    assert f"(process {before[0]}) ended: signal 9" in words
    assert "the others go on without it" in words
    assert "Traceback" not in words


async def some_have_ended(streams: list[asyncio.Future[int]]) -> bool:
    return any(stream.done() for stream in streams)


async def while_none_can_be_had_the_others_have_all_connections(site: Site, journals: Path) -> None:
    journals.rename(site.folder / "elsewhere")  # a worker that begins cannot write its journal now
    os.kill((await site.workers())[0], signal.SIGKILL)

    async def all_served() -> bool:
        async with asyncio.timeout(10):
            return await asyncio.gather(*[site.one() for _ in range(12)], return_exceptions=True) == [200] * 12

    async def two_serve() -> bool:
        return (await site.metrics())["pointsman_requests_total"] > 0 and len(await serving(site)) == 2

    async def one_serves() -> bool:
        return await all_served() and len(await serving(site)) == 1

    await site.until(one_serves, 20.0)
    (site.folder / "elsewhere").rename(journals)
    await site.until(two_serve, 20.0)
    assert await all_served()


async def serving(site: Site) -> set[int]:
    """The workers that listen on the data port."""
    inodes = {
        fields[9]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if (fields := line.split())[3] == "0A" and int(fields[1].split(":")[1], 16) == site.port
    }
    found = set()
    for pid in await site.workers():
        for each in Path(f"/proc/{pid}/fd").glob("*"):
            link = os.readlink(each) if each.is_symlink() else ""
            if link.removeprefix("socket:[").removesuffix("]") in inodes:
                found.add(pid)
    return found


async def test_it_stops_gently_and_leaves_journals_that_replay(site: Site) -> None:
    journal = site.folder / "run.jsonl"
    await site.start(Engine(gap_s=0.04), more=f'journal = "{journal}"')
    async with Lateness() as lateness:
        for _ in range(6):
            assert await site.one() == 200
            await asyncio.sleep(0.1)
    late_s = lateness.worst_since(0.0)  # the workers' delays are the machine's, too
    site.engines[0].goes_on.clear()
    streams = [asyncio.ensure_future(site.one()) for _ in range(10)]
    await site.run(10)
    site.process.send_signal(signal.SIGTERM)
    await site.until(site.not_ready)
    site.go_on()
    assert await asyncio.gather(*streams) == [200] * 10
    words = await site.words()
    assert site.process.returncode == 0
    assert "Traceback" not in words
    found = sorted(journal.parent.glob("run.jsonl.*"))
    assert [path.name for path in found] == ["run.jsonl.1", "run.jsonl.2"]
    runs = [[msgspec.json.decode(line, type=Entry).call for line in path.read_bytes().splitlines()] for path in found]
    delays = sorted(delays_of(*runs) + delays_of(*reversed(runs)))
    assert delays[len(delays) // 4] < 0.1 + late_s  # not the median: a machine that is busy delays many of them
    for path in found:
        await replays(path)


async def replays(journal: Path) -> None:
    command = [sys.executable, "-m", "pointsman", "replay", "--journal", str(journal)]
    replay = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told, _ = await replay.communicate()
    assert replay.returncode == 0, told


def delays_of(here: list[Call], there: list[Call]) -> list[float]:
    """Seconds from each of the first bookings here, one at a time, until it is heard of there."""
    heard = [call for call in there if isinstance(call, Hear) and "0" in call.report.nodes]
    known = [call.now for call in heard if call.report.nodes["0"].others.outstanding]
    booked = [call.now for call in here if isinstance(call, Submit)]
    return [min(now for now in known if now > since) - since for since in booked if since < max(known, default=0.0)]


async def test_a_supervisor_that_hangs_holds_up_nobody(site: Site) -> None:
    """What several gateways share is not asked on the way of a request: if it freezes, each goes by what it knew."""
    await site.start(Engine(gap_s=0.005), Engine(gap_s=0.005), slots=8)
    assert await asyncio.gather(*[site.one() for _ in range(10)]) == [200] * 10
    site.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(10):
            async with asyncio.timeout(5.0):
                assert await asyncio.gather(*[site.one() for _ in range(20)]) == [200] * 20
    finally:
        site.process.send_signal(signal.SIGCONT)
    await site.until(site.at_rest)
    assert (await site.metrics())["pointsman_requests_total"] == 210
    assert len(site.engines[0].requests) + len(site.engines[1].requests) == 210


async def test_all_processes_signalled_at_once_stop_gently(site: Site) -> None:
    await site.start(Engine(held=True))
    streams = [asyncio.ensure_future(site.one()) for _ in range(10)]
    await site.run(10)
    for pid in [*await site.workers(), site.process.pid]:
        os.kill(pid, signal.SIGTERM)
    await site.until(site.not_ready)
    site.go_on()
    assert await asyncio.gather(*streams) == [200] * 10
    assert "Traceback" not in await site.words()
    assert site.process.returncode == 0


async def test_told_twice_it_stops_at_once(site: Site) -> None:
    await site.start(Engine(held=True))
    streams = [asyncio.ensure_future(site.one()) for _ in range(4)]
    await site.run(4)
    site.process.send_signal(signal.SIGTERM)
    await site.until(site.not_ready)  # the system makes one of two signals that it has not delivered
    site.process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(site.process.wait(), 4.5) == 0  # a worker that does not obey is killed after 5
    words = await site.words()
    await asyncio.gather(*streams, return_exceptions=True)
    assert "Traceback" not in words


async def test_told_before_it_serves_it_does_not_wait_for_nodes_first(tmp_path: Path) -> None:
    ports = [f"127.0.0.1:{port}" for port in free_ports(3)]
    config = tmp_path / "pointsman.toml"
    config.write_text("workers = 2\n[timeouts]\nlame_duck_s = 0.1\n")
    flags = ["--config", str(config), "--listen", ports[0], "--admin-listen", ports[1], "--node", f"http://{ports[2]}"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pointsman", "serve", *flags, stderr=asyncio.subprocess.PIPE
    )
    words = b""
    assert process.stderr is not None
    while b"probe failed" not in words:
        words += await asyncio.wait_for(process.stderr.read(65536), 20.0)
    process.send_signal(signal.SIGTERM)
    _, rest = await asyncio.wait_for(process.communicate(), 5.0)  # else ten seconds pass before the workers serve
    assert process.returncode == 0
    assert b"Traceback" not in words + rest


async def test_workers_end_when_their_supervisor_is_killed(site: Site) -> None:
    await site.start(Engine())
    workers = await site.workers()
    site.process.kill()

    async def ended() -> bool:
        return not any(runs(pid) for pid in workers)

    await site.until(ended)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
