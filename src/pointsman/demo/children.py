"""Child processes of the demonstration: started with a log file each, ended by their own process id.

Every child gets a session of its own, so that Ctrl-C on the terminal reaches only the demonstration, which then ends
its children in order. Where the demonstration itself is killed, Linux ends them. Nothing is ever ended by name.
"""

import ctypes
import errno
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import DemoError

COMMAND = (sys.executable, "-m", "pointsman")
END_WITHIN_S = 3.0
LOG_LINES_SHOWN = 12
PORTS = range(20_000, 32_000)

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Child:
    """One `pointsman` command running as a process. Ends with `end()`, which may be called at any time."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name = name
        self.command = [*COMMAND, *arguments]
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent if _libc else None,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Raises DemoError with the child's last words if it has ended."""
        code = self._process.poll()
        if code is not None:
            raise DemoError(f"{self.name} ended with status {code}.\n{self.last_words()}")

    def last_words(self) -> str:
        """The end of its log, and the command to try by hand."""
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        shown = "\n".join(f"  | {line}" for line in lines) or "  | (it wrote nothing)"
        return f"{shown}\nTry it by hand: {' '.join(self.command)}"

    def end(self, within_s: float = END_WITHIN_S) -> None:
        """Ask it to stop, insist after `within_s` seconds. Harmless when it has ended already."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(how)
            try:
                self._process.wait(within_s)
                return
            except subprocess.TimeoutExpired:
                continue

    def ask_to_stop(self) -> None:
        """Send SIGTERM and do not wait. Harmless when it has ended already."""
        if self._process.poll() is None:
            self._process.terminate()

    def cpu_seconds(self) -> float:
        """CPU time used until now, user and system; 0 where /proc does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end_with_parent() -> None:
    """In the child: have the kernel end it when its parent is gone, however that went."""
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_all(children: Sequence[Child]) -> None:
    """End all together, so that they need the time of the slowest, not of all in turn."""
    for child in children:
        child.ask_to_stop()
    for child in children:
        child.end()


def own_cpu_seconds() -> float:
    """CPU time this process used until now."""
    times = os.times()
    return times.user + times.system


def free_ports(count: int) -> list[int]:
    """Different ports of 127.0.0.1 that nobody listens on now.

    They lie below those that Linux gives to connections, which could take one before it is listened on.
    """
    found: list[int] = []
    while len(found) < count:
        port = secrets.choice(PORTS)
        if port not in found and _is_free(port):
            found.append(port)
    return found


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
