"""The processes of a scene: emulated engines with audit logs, and the gateway before them.

Each runs in a session of its own with a log file, is ended by its own process id, and dies with this process.
"""

import json
import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pointsman.demo.children import Child, free_ports

LEAVE_WITHIN_S = 8.0
TROUBLE = ("Traceback", "never retrieved", "never awaited", "Unhandled", "failed inside the gateway")
"""What a log must not hold."""


class Process:
    """A `pointsman` command that can be started again under the same name, arguments and log."""

    def __init__(self, name: str, arguments: list[str], folder: Path) -> None:
        self.name = name
        self._arguments = arguments
        self._folder = folder
        self.child: Child | None = None

    @property
    def pid(self) -> int:
        assert self.child is not None
        return self.child.pid

    @property
    def log(self) -> Path:
        return self._folder / f"{self.name}.log"

    def start(self) -> None:
        self.child = Child(self.name, self._arguments, self._folder)

    def check(self) -> None:
        """Raises DemoError with its last words if it has ended."""
        assert self.child is not None
        self.child.check()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def reap(self, within_s: float = LEAVE_WITHIN_S) -> None:
        """Wait for it to end, and end it if it does not. Blocks."""
        if self.child is not None:
            self.child.end(within_s)

    def troubles(self) -> list[str]:
        """Lines of its log that tell of an error nobody handled."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return [f"{self.name}: {line}" for line in lines if any(word in line for word in TROUBLE)]


class Engine(Process):
    """An emulated engine. `options` are flags of `pointsman engine` without their dashes."""

    def __init__(self, name: str, models: Iterable[str], options: Mapping[str, Any], folder: Path) -> None:
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.audit_log = folder / f"{name}.audit"
        flags = {"port": self.port, "model": ",".join(models), "audit_log": self.audit_log} | dict(options)
        super().__init__(name, ["engine", *as_flags(flags)], folder)


class Gateway(Process):
    """`pointsman serve` with a settings file. `settings` are those of the file; nodes are tables of it."""

    def __init__(
        self, settings: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]], folder: Path, workers: int = 1
    ) -> None:
        self.port, admin = free_ports(2)
        self.admin_url = f"http://127.0.0.1:{admin}"
        ours = {"listen": f"127.0.0.1:{self.port}", "admin_listen": f"127.0.0.1:{admin}"}
        self._settings = ours | dict(settings) | {"nodes": list(nodes)}
        self.config = folder / "gateway.toml"
        self.config.write_text(self.text_with())
        more = ["--workers", str(workers)] if workers > 1 else []
        super().__init__("gateway", ["serve", "--config", str(self.config), *more], folder)

    def text_with(self, **changes: Any) -> str:
        """Its file with other settings."""
        return toml(self._settings | changes)


def as_flags(options: Mapping[str, Any]) -> list[str]:
    """`{"kv_blocks": 10}` as `["--kv-blocks", "10"]`; True is a switch."""
    flags = []
    for name, value in options.items():
        flags.append(f"--{name.replace('_', '-')}")
        if value is not True:
            flags.append(str(value))
    return flags


def toml(settings: Mapping[str, Any]) -> str:
    """Settings as TOML: top-level keys, with tables inline."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
