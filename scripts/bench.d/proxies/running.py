"""Starting and ending the processes of a comparison: on 127.0.0.1, ports 18800 to 18899, each in a group of its own."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from .load import Failed, exchange, request

PORTS = range(18800, 18900)
READY_WITHIN_S = 40.0


def free_ports() -> Iterator[int]:
    """The ports of the range that nobody listens on."""
    for port in PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                yield port


@contextmanager
def child(command: list[str], environment: dict[str, str], log: Path) -> Iterator[int]:
    """Run `command` until the block ends, then kill its group: it has nothing to save. Its output goes to `log`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process.pid
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def ready(port: int, pid: int) -> None:
    """Wait until a request gets its answer. Raises Failed if the process ends or takes too long."""
    deadline = monotonic() + READY_WITHIN_S
    while True:
        try:
            return await asyncio.to_thread(ask_once, port)
        except (OSError, Failed) as error:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                raise Failed("ended at its start") from None
            if monotonic() > deadline:
                raise Failed(f"not ready after {READY_WITHIN_S:.0f} s: {error}") from None
        await asyncio.sleep(0.2)


def ask_once(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 2.0) as connection:
        exchange(connection, request(0, streamed=False))
