"""Addresses whose packets can be made to vanish without a word: a network namespace behind a pair of virtual cables.

A listening socket belongs to the namespace it was made in, so nodes listen inside while their code runs in this
process. An address vanishes when our neighbour table names a hardware address that nobody has: what is sent there,
acknowledgements and resets included, is lost silently, and what comes from there still arrives.
"""

import asyncio
import ctypes
import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path
from typing import Self

_CLONE_NEWNET = 0x40000000
_NOBODY = "02:00:00:00:de:ad"
_HOSTS = 250
_NAMESPACES = Path("/var/run/netns")
_libc = ctypes.CDLL(None, use_errno=True)


def unavailable() -> str | None:
    """Why there is no black hole on this machine; None if there is one."""
    if not shutil.which("ip"):
        return "no `ip` command"
    if os.geteuid() != 0:
        return "network namespaces need root"
    tried = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "network namespaces are not allowed here"


class BlackHoles:
    """The namespace, as a context manager. `address` gives a fresh address in it, `listener` a socket bound there."""

    def __init__(self) -> None:
        self._name = f"faults{os.getpid()}"
        self._here, self._there = f"fh{os.getpid()}", f"ft{os.getpid()}"
        self._subnet = f"198.{18 + os.getpid() % 2}.{os.getpid() // 2 % 256}"  # set aside for tests by RFC 2544
        self._free: list[str] = []

    def __enter__(self) -> Self:
        _sweep()
        there = ["-n", self._name]
        _ip("netns", "add", self._name)
        _ip("link", "add", self._here, "type", "veth", "peer", "name", self._there, "netns", self._name)
        _ip("addr", "add", f"{self._subnet}.1/24", "dev", self._here)
        _ip("link", "set", self._here, "up")
        _ip(*there, "link", "set", self._there, "up")
        self._free = [f"{self._subnet}.{host}" for host in range(2, 2 + _HOSTS)]
        lines = "".join(f"addr add {address}/24 dev {self._there}\n" for address in self._free)
        subprocess.run(["ip", *there, "-batch", "-"], input=lines.encode(), check=True, capture_output=True)
        return self

    def __exit__(self, *_: object) -> None:
        _ip("netns", "del", self._name)  # takes the cables with it

    def take(self) -> str:
        """An address of one's own; to be given back with `give_back`."""
        return self._free.pop()

    def give_back(self, address: str) -> None:
        self._free.append(address)

    def listener(self, address: str) -> socket.socket:
        """A socket that listens on `address`, made by a thread that visits the namespace."""
        made: list[socket.socket] = []
        thread = threading.Thread(target=lambda: made.append(self._listen(address)))
        thread.start()
        thread.join()
        return made[0]

    async def vanish(self, address: str) -> None:
        """Nothing reaches `address` any more."""
        where = ("dev", self._here, "nud", "permanent")
        await asyncio.to_thread(_ip, "neigh", "replace", address, "lladdr", _NOBODY, *where)

    async def heal(self, address: str) -> None:
        """The address is there again."""
        await asyncio.to_thread(_ip, "neigh", "del", address, "dev", self._here)

    def _listen(self, address: str) -> socket.socket:
        with (_NAMESPACES / self._name).open("rb") as namespace:
            if _libc.setns(namespace.fileno(), _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        return socket.create_server((address, 0))


def _sweep() -> None:
    """Remove what runs that were killed have left."""
    for path in _NAMESPACES.glob("faults*"):
        if not Path("/proc", path.name.removeprefix("faults")).exists():
            _ip("netns", "del", path.name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
