"""A file that is appended to under its name: whoever rotates it needs to tell nobody."""

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path


class FollowedFile:
    """Appends to `path`. Where another file, or none, has that name by now, the next write goes to a new one."""

    def __init__(self, path: str) -> None:
        """Raises OSError, ValueError when the file cannot be opened."""
        self._path = Path(path)
        self._file = self._open()
        self._end_line()

    def write(self, lines: bytes) -> None:
        """Whole lines, and all of them or none. Raises OSError."""
        if self._moved():
            self._file.close()
            self._file = self._open()
        before = os.fstat(self._file.fileno()).st_size
        written = self._file.write(lines)
        if written != len(lines):
            with suppress(OSError):
                self._file.truncate(before)
            raise OSError(f"{self._path}: only {written} of {len(lines)} bytes could be written")

    def close(self) -> None:
        self._file.close()

    def _moved(self) -> bool:
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return True
        ours = os.fstat(self._file.fileno())
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)

    def _open(self) -> FileIO:
        return FileIO(self._path, "ab")

    def _end_line(self) -> None:
        """A process that was killed may have left half a line: what follows begins on its own."""
        if not self._path.is_file() or not self._path.stat().st_size:
            return
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            whole = file.read() == b"\n"
        if not whole:
            self._file.write(b"\n")
