"""Emulated engines as processes, with the audit each keeps of what happened to every request."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import defaultdict
from pathlib import Path
from typing import Any, Self

import msgspec

from pointsman.engine.text.template import Message, render
from pointsman.engine.text.words import Writer

TOKEN_MS = 12
OVERHEAD_MS = 10
_MEAN = 200
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def text_of(prompt: str, tokens: int) -> str:
    """What an emulated engine answers to a chat of one message, whichever engine it is."""
    writer = Writer(render([Message(role="user", content=prompt)]), _MEAN)
    return b"".join(writer.next(False) for _ in range(tokens)).decode()


class EngineProcess:
    """`pointsman engine`, as an asynchronous context manager. `audit` maps a request id to its moments, in order."""

    def __init__(self, folder: Path, name: str, models: tuple[str, ...]) -> None:
        self._log = folder / f"{name}.jsonl"
        self._read = 0
        self._models = models
        self._records: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._process: Process | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        options = {
            "port": 0,
            "model": ",".join(self._models),
            "audit-log": self._log,
            "prefill-tokens-per-second": 1_000_000,
            "decode-base-ms": TOKEN_MS,
            "overhead-ms": OVERHEAD_MS,
            "mean-output-tokens": _MEAN,
        }
        flags = [f"--{name}={value}" for name, value in options.items()]
        command = [sys.executable, "-m", "pointsman", "engine", *flags]
        self._process = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=PIPE)
        assert self._process.stderr is not None
        banner = (await self._process.stderr.readline()).decode()
        found = re.search(r"http://[^ ]*:(\d+)", banner)
        if found is None:
            raise RuntimeError(f"the engine did not start: {banner}")
        self.port = int(found[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        self.go_on()
        self._process.kill()
        await self._process.communicate()

    def stop(self) -> None:
        """SIGSTOP: connections stand and are accepted, nothing is said."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def audit(self, request_id: str) -> list[dict[str, Any]]:
        """What has happened to the request so far: records of start, first, finish or abort."""
        with self._log.open("rb") as file:
            file.seek(self._read)
            lines = file.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            record = _decode(line)
            self._records[record["request_id"]].append(record)
        return self._records[request_id]

    def running(self, request_id: str) -> int:
        """Tries of the request that the engine has begun and neither finished nor aborted."""
        events = [record["event"] for record in self.audit(request_id)]
        return events.count("start") - events.count("finish") - events.count("abort")

    def _signal(self, number: int) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            os.kill(self._process.pid, number)
