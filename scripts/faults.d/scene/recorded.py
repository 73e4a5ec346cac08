"""A world in which every byte between the gateway and its engines is kept, and every decision written down."""

from dataclasses import replace
from pathlib import Path

import aiohttp

from scene.processes import Engine
from scene.tee import Tee
from scene.world import Plan, World


class Recorded(World):
    """A journal and a recording are kept, and a `Tee` stands before each engine."""

    def __init__(self, plan: Plan, folder: Path, session: aiohttp.ClientSession) -> None:
        self.tees: dict[str, Tee] = {}
        files = {name: str(folder / name) for name in ("journal", "recording")}
        super().__init__(replace(plan, settings={**plan.settings, **files}), folder, session)

    def node_url(self, engine: Engine) -> str:
        tee = self.tees[engine.name] = Tee(engine.port)
        return f"http://127.0.0.1:{tee.port}"

    async def start(self) -> None:
        for tee in self.tees.values():
            await tee.open()
        await super().start()

    async def stop(self) -> None:
        """No connection is let through any more."""
        for tee in self.tees.values():
            await tee.close()

    def written(self) -> dict[str, bytes]:
        """What the processes wrote, by what it is."""
        kinds = {
            "gateway's log": "gateway.log",
            "journal": "journal*",
            "recording": "recording*",
            "engines' logs": "[abc].log",
            "audits": "*.audit",
        }
        return {kind: _joined(self.folder, pattern) for kind, pattern in kinds.items()}


def _joined(folder: Path, pattern: str) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.glob(pattern)))
