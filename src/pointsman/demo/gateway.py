"""A gateway for one policy, as a child process that knows the engines' addresses and nothing else about them."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import aiohttp
import msgspec

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import build

from .children import Child, free_ports
from .errors import DemoError
from .http import POLL_S, READY_WITHIN_S, call, until_ready

LEAVE_WITHIN_S = 0.5
NOTHING: Mapping[str, float | str] = MappingProxyType({})
MORE_SECONDS = ("hold_above",)  # settings that count seconds without saying so in their name


class _Node(msgspec.Struct):
    state: str


class Gateway:
    """`pointsman serve` with one policy. `start()`, then `end()`."""

    def __init__(
        self,
        policy: str,
        time_scale: float,
        engines: Iterable[str],
        folder: Path,
        journals: Path | None = None,
        brain: Mapping[str, float | str] = NOTHING,
    ) -> None:
        data, admin = free_ports(2)
        self.url = f"http://127.0.0.1:{data}"
        self._admin = f"http://127.0.0.1:{admin}"
        config = folder / f"{policy}.toml"
        config.write_text(settings_text(policy, time_scale, data, admin, engines, journals, brain))
        self.child = Child(f"gateway-{policy}", ["serve", "--config", str(config)], folder)

    async def start(self, session: aiohttp.ClientSession, check: Callable[[], None]) -> None:
        """Wait until every engine is up for it; `check` raises if one of them died.

        Raises DemoError if that takes too long, with the gateway's log if it died itself.
        """
        await until_ready(session, f"{self._admin}/healthz", self.child.check)
        for _ in range(int(READY_WITHIN_S / POLL_S)):
            nodes = msgspec.json.decode(await call(session, "GET", f"{self._admin}/nodes"), type=list[_Node])
            if nodes and all(node.state == "up" for node in nodes):
                return
            self.child.check()
            check()
            await asyncio.sleep(POLL_S)
        raise DemoError(f"{self.child.name} did not find all engines up.\n{self.child.last_words()}")

    def end(self) -> None:
        """End it. Harmless when it has ended. Its clients are gone by now, so it need not drain."""
        self.child.end(within_s=LEAVE_WITHIN_S)


def settings_text(
    policy: str,
    time_scale: float,
    data: int,
    admin: int,
    engines: Iterable[str],
    journals: Path | None = None,
    brain: Mapping[str, float | str] = NOTHING,
) -> str:
    """The gateway's configuration file.

    The gateway lives in wall time, the engines live `time_scale` times faster: so all its patience and memory, given in
    seconds, is divided by the scale, but not its longest request. There is no slow start, since the engines have been
    up for long. `brain`: settings other than the usual.
    """
    settings = msgspec.convert(dict(brain), BrainSettings)
    table = dict(brain) | _hastened(settings, time_scale) | {"slow_start_s": 0.0, "lease_s": settings.lease_s}
    parameters = _hastened(build(policy), time_scale)
    return "\n".join(
        [
            f'listen = "127.0.0.1:{data}"',
            f'admin_listen = "127.0.0.1:{admin}"',
            f'policy = "{policy}"',
            *([f"journal = {str(journals / policy) + '.jsonl'!r}"] if journals else []),
            *_table("timeouts", {"lame_duck_s": 0.0}),
            *_table("brain", table),
            *_table(f"policies.{policy}", parameters),
            *(f'[[nodes]]\nurl = "{url}"' for url in engines),
            "",
        ]
    )


def _hastened(settings: BrainSettings | Policy, time_scale: float) -> dict[str, float]:
    """Every setting that counts seconds, over the time scale."""
    names = [name for name in dir(settings) if name.endswith("_s") or name in MORE_SECONDS]
    return {name: getattr(settings, name) / time_scale for name in names}


def _table(name: str, values: Mapping[str, float | str]) -> list[str]:
    return [f"[{name}]", *(f"{key} = {value!r}" for key, value in values.items())]
