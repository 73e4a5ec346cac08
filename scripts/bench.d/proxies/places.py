"""Where the peers live: `.peers/` in the project, which git ignores and which may be deleted at any time."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[3]
PEERS = ROOT / ".peers"
VERSIONS = {"vllm-router": "0.1.17", "smg": "1.13.0", "sglang-router": "0.3.2"}
"""From the Python package index, each in a virtual environment of its own: their dependencies disagree."""
DEBIAN = ("nginx", "haproxy")
"""Unpacked from Debian's packages beside the libraries that this system lacks; nothing is installed on the system."""


def libraries() -> str:
    """The search path of the libraries unpacked beside Debian's programs."""
    return ":".join(map(str, PEERS.glob("debian/usr/lib/*-linux-gnu")))


def program(peer: str) -> Path | None:
    """The executable of `peer`: that of `scripts/bench install`, for Debian's else the system's; None if absent."""
    if peer in VERSIONS:
        found = PEERS / peer / "bin" / peer
        return found if finished(peer).exists() and found.exists() else None
    found = PEERS / "debian" / "usr" / "sbin" / peer
    if found.exists():
        return found
    system = shutil.which(peer, path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    return Path(system) if system else None


def finished(peer: str) -> Path:
    """The mark that the installation of `peer`, in this version, ran to its end."""
    return PEERS / f".done-{peer}-{VERSIONS[peer]}" if peer in VERSIONS else PEERS / f".done-{peer}"
