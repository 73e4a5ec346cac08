"""A file that is appended to and never grows beyond a bound: when it is half full, it becomes the older half."""

import os
from io import FileIO
from pathlib import Path

OLDER = ".old"


class BoundedFile:
    """Lines go to `path`; what was there before moves to `path.old`, whose former content is lost.

    Both together have at most `limit_bytes`, given that one write is smaller than half of that.
    """

    def __init__(self, path: str, limit_bytes: int) -> None:
        """Raises OSError, ValueError when the file cannot be opened."""
        self._path = Path(path)
        self._half = limit_bytes // 2
        self._file = self._open()
        self._size = self._path.stat().st_size
        self._end_line()

    def write(self, lines: bytes) -> None:
        """Whole lines. Raises OSError."""
        if self._size and self._size + len(lines) > self._half:
            self._turn()
        self._size += len(lines)
        written = self._file.write(lines)
        if written != len(lines):
            raise OSError(f"{self._path}: only {written} of {len(lines)} bytes could be written")

    def close(self) -> None:
        self._file.close()

    def _turn(self) -> None:
        self._file.close()
        os.replace(self._path, f"{self._path}{OLDER}")
        self._file = self._open()
        self._size = 0

    def _open(self) -> FileIO:
        return FileIO(self._path, "ab")

    def _end_line(self) -> None:
        """A process that was killed may have left half a line: what follows begins on its own."""
        if not self._size or not self._path.is_file():
            return
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            whole = file.read() == b"\n"
        if not whole:
            self.write(b"\n")
