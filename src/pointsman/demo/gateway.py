"""A gateway for one policy, as a child process that knows the engines' addresses and nothing else about them."""

from collections.abc import Iterable
from pathlib import Path

import aiohttp

from .children import Child, free_ports
from .http import until_ready

LEAVE_WITHIN_S = 0.5


class Gateway:
    """`pointsman serve` with one policy. `start()`, then `end()`."""

    def __init__(self, policy: str, engines: Iterable[str], folder: Path) -> None:
        data, admin = free_ports(2)
        self.url = f"http://127.0.0.1:{data}"
        config = folder / f"{policy}.toml"
        config.write_text(_settings(policy, data, admin, engines))
        self.child = Child(f"gateway-{policy}", ["serve", "--config", str(config)], folder)

    async def start(self, session: aiohttp.ClientSession) -> None:
        """Wait until it has found its engines. Raises DemoError with its log if it does not."""
        await until_ready(session, f"{self.url}/health", self.child.check)

    def end(self) -> None:
        """End it. Harmless when it has ended. Its clients are gone by now, so it need not drain."""
        self.child.end(within_s=LEAVE_WITHIN_S)


def _settings(policy: str, data: int, admin: int, engines: Iterable[str]) -> str:
    lines = [f'listen = "127.0.0.1:{data}"', f'admin_listen = "127.0.0.1:{admin}"', f'policy = "{policy}"']
    for url in engines:
        lines += ["[[nodes]]", f'url = "{url}"']
    return "\n".join(lines) + "\n"
