"""The files the gateway's settings are read from, and whether they have changed.

A file is known by inode, time and size, looked at every second or so. A change counts only when it has been there
twice in a row: an editor or `cp` that is half done would else be read as a configuration without nodes.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pointsman.config.serve import ServeConfig

FILE_KEYS = ("node_key_file", "chain_secret_file", "tls_cert", "tls_key", "node_ca_file")
"""Settings that name files which are read."""

Stamp = tuple[int, int, int] | None


def files_of(config: ServeConfig, path: str | None) -> list[str]:
    """Every file that `config`, itself read from `path`, is made of."""
    named = (getattr(config, key) for key in FILE_KEYS)
    return [file for file in (path, *named) if file]


def digests(config: ServeConfig) -> dict[str, bytes]:
    """What is in the files that settings name, as digests by setting; a file that cannot be read is left out."""
    found = {}
    for key in FILE_KEYS:
        try:
            found[key] = hashlib.sha256(Path(getattr(config, key)).read_bytes()).digest()
        except (OSError, ValueError):
            continue
    return found


class Watch:
    """Tells when files have changed and rest again. `mark` them before they are read."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._known: dict[str, Stamp] = {}
        self.follow(paths)

    def follow(self, paths: Iterable[str]) -> None:
        """Watch these files, and no others any more."""
        self._known = {path: self._known.get(path) or _stamp(path) for path in paths}
        self._last = self._known

    def mark(self) -> None:
        """What the files are now is known; watch for what follows."""
        self._known = self._last = self._stamps()

    def changed(self) -> bool:
        """To be asked every second or so: whether the files differ from those known, and did so last time too."""
        last, self._last = self._last, self._stamps()
        return last == self._last != self._known

    def _stamps(self) -> dict[str, Stamp]:
        return {path: _stamp(path) for path in self._known}


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
