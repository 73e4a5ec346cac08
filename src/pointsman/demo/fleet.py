"""The emulated engines of the scene, as child processes."""

import asyncio
import re
from pathlib import Path

import aiohttp
import msgspec

from pointsman.engine.settings import EngineConfig

from .children import Child, end_all, free_ports
from .http import call, call_when_idle, until_ready
from .scene import Scene
from .stopwatch import EngineTime

_DEFAULT = EngineConfig()
_PREEMPTIONS = re.compile(rb"^vllm:num_preemptions_total(?:\{[^}]*\})? (\S+)", re.MULTILINE)


class _Event(msgspec.Struct):
    """A line of an engine's audit log, as far as it is needed here."""

    request_id: str = ""


class Fleet:
    """Engines of one scene. `start()`, then any number of `reset()` and `enact()`, then `end()`."""

    def __init__(self, scene: Scene, time_scale: float, folder: Path) -> None:
        self.scene = scene
        ports = free_ports(len(scene.nodes))
        self.urls = {node.name: f"http://127.0.0.1:{port}" for node, port in zip(scene.nodes, ports, strict=True)}
        self._ports = dict(zip(self.urls, ports, strict=True))
        self._scale = time_scale
        self._folder = folder
        self.children: list[Child] = []

    async def start(self, session: aiohttp.ClientSession) -> None:
        """Start every engine and wait until all are ready. Raises DemoError with the log of one that is not."""
        self.children.extend(
            Child(node.name, ["engine", *flags(node.engine(self._ports[node.name], self._scale))], self._folder)
            for node in self.scene.nodes
        )
        await asyncio.gather(
            *(until_ready(session, f"{self.urls[child.name]}/health", child.check) for child in self.children)
        )

    async def reset(self, session: aiohttp.ClientSession) -> None:
        """Every engine forgets its cache, its counters, its audit log and any fault."""
        for url in self.urls.values():
            await call(session, "DELETE", f"{url}/admin/faults")
            await call_when_idle(session, "POST", f"{url}/admin/reset")

    async def enact(self, session: aiohttp.ClientSession, time: EngineTime, seconds: float) -> None:
        """The fault of the scene at its moments of a run of `seconds` engine seconds."""
        fault = self.scene.fault
        if fault is None:
            return
        url = f"{self.urls[fault.node]}/admin/faults"
        await time.until(fault.begins * seconds)
        await call(session, "POST", url, {"kind": "slow", "factor": fault.factor})
        await time.until(fault.ends * seconds)
        await call(session, "DELETE", url)

    async def served(self, session: aiohttp.ClientSession) -> dict[str, str]:
        """Which node saw each request id last, by the engines' own audit logs."""
        places: dict[str, str] = {}
        for name, url in self.urls.items():
            events = msgspec.json.decode(await call(session, "GET", f"{url}/admin/audit"), type=list[_Event])
            places |= {event.request_id: name for event in events}
        return places

    async def preemptions(self, session: aiohttp.ClientSession) -> int:
        """How many streams the engines have put back since the last `reset()`, by their own metrics."""
        texts = await asyncio.gather(*(call(session, "GET", f"{url}/metrics") for url in self.urls.values()))
        return sum(int(float(count)) for text in texts for count in _PREEMPTIONS.findall(text))

    def check(self) -> None:
        """Raises DemoError if an engine has died."""
        for child in self.children:
            child.check()

    def end(self) -> None:
        """End all engines. Harmless when they have ended."""
        end_all(self.children)


def flags(config: EngineConfig) -> list[str]:
    """The command-line flags that give these settings: all that differ from their defaults."""
    changed = [
        (name, value)
        for name in config.__struct_fields__
        if (value := getattr(config, name)) != getattr(_DEFAULT, name)
    ]
    return [part for name, value in changed for part in (f"--{name.replace('_', '-')}", str(value))]
