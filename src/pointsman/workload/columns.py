"""Csv lines by column name."""

import csv
from collections.abc import Mapping, Sequence


class Columns:
    """Reads lines of a csv file whose header is known."""

    __slots__ = ("_names",)

    def __init__(self, header: Sequence[str], required: Sequence[str]) -> None:
        missing = [name for name in required if name not in header]
        if missing:
            raise ValueError(f"the header lacks the columns {', '.join(missing)}")
        self._names = tuple(header)

    def of(self, line: str) -> dict[str, str]:
        """Cells by column name. Raises ValueError if the line has another number of cells than the header."""
        cells = split(line)
        if len(cells) != len(self._names):
            raise ValueError(f"{len(cells)} cells where the header has {len(self._names)}")
        return dict(zip(self._names, cells, strict=True))


def split(line: str) -> list[str]:
    """The stripped cells of one csv line; a byte-order mark before the first is dropped."""
    return [cell.strip() for cell in next(csv.reader([line.removeprefix("\ufeff")]), [])]


def count(cell: Mapping[str, str], name: str, *, least: int) -> int:
    """A whole number of tokens. Raises ValueError naming the column if it is none or below `least`."""
    try:
        number = int(cell[name])
    except ValueError:
        raise ValueError(f"{name} is {cell[name]!r}, not a whole number") from None
    if number < least:
        raise ValueError(f"{name} is {number}, below {least}")
    return number
