"""Puts the proxies that `relay` compares under .peers/, from nothing; what is there already stays.

Each step leaves a mark when it has ended well, so that a run that was cut short goes on where it stopped. Packages come
from the Python package index and from Debian through their ordinary clients. Nothing outside .peers/ is changed, and
Debian's packages are unpacked, not installed: no service starts and no root is needed.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from proxies.places import DEBIAN, PEERS, VERSIONS, finished, program

APT = PEERS / "apt"
APT_OPTIONS = (
    f"-oDir::State::lists={APT}/lists",
    f"-oDir::Cache={APT}/cache",
    f"-oDir::Log={APT}/log",
    "-oDebug::NoLocking=true",
    "-oAPT::Sandbox::User=",
    "-qq",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench install", description=__doc__)
    parser.add_argument(
        "peers", nargs="*", metavar="PEER", help=f"of {', '.join((*VERSIONS, 'debian'))} (default: all)"
    )
    wanted = parser.parse_args().peers or [*VERSIONS, "debian"]
    if unknown := set(wanted) - {*VERSIONS, "debian"}:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}")
    failed = [peer for peer in wanted if not installed(peer)]
    if failed:
        print(f"scripts/bench install: not installed: {', '.join(failed)}; run it again to go on", file=sys.stderr)
    return 1 if failed else 0


def installed(peer: str) -> bool:
    """Install `peer` unless it is there; say what happened."""
    if finished(peer).exists() and all(map(program, DEBIAN if peer == "debian" else [peer])):
        print(f"{peer}: already there")
        return True
    print(f"{peer}: installing ...", flush=True)
    PEERS.mkdir(exist_ok=True)
    try:
        unpack_debian() if peer == "debian" else make_environment(peer)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{peer}: {error}", file=sys.stderr)
        return False
    finished(peer).touch()
    print(f"{peer}: done")
    return True


def make_environment(peer: str) -> None:
    """A virtual environment with `peer` in its pinned version; a half-made one is made anew."""
    home = PEERS / peer
    run(sys.executable, "-m", "venv", "--clear", home)
    run(home / "bin" / "pip", "install", "-qq", "--disable-pip-version-check", f"{peer}=={VERSIONS[peer]}")


def unpack_debian() -> None:
    """Fetch the packages with the libraries this system lacks, into lists and a cache of our own, and unpack them."""
    for folder in ("lists/partial", "cache/archives/partial", "log"):
        (APT / folder).mkdir(parents=True, exist_ok=True)
    run("apt-get", *APT_OPTIONS, "update")
    fetch = ("--yes", "--download-only", "--reinstall", "--no-install-recommends")
    run("apt-get", *APT_OPTIONS, "install", *fetch, *DEBIAN)
    home = PEERS / "debian"
    shutil.rmtree(home, ignore_errors=True)
    for package in sorted(APT.glob("cache/archives/*.deb")):
        run("dpkg-deb", "--extract", package, home)
    shutil.rmtree(APT)


def run(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
