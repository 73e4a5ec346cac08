"""BurstGPT traces: csv `Timestamp,[Session ID,Elapsed time,]Model,Request tokens,Response tokens,…,Log Type`
(HPMLL/BurstGPT). Stamps are whole seconds. Failed requests have zero response tokens and are kept."""

import math
from collections.abc import Sequence

from .columns import Columns, count
from .rows import FormatName, TraceRow

REQUIRED = ("Timestamp", "Model", "Request tokens", "Response tokens")


class BurstGptFormat:
    """Parses rows of one file; the columns `Session ID` and `Elapsed time` came with its second edition."""

    name: FormatName = "burstgpt"
    coarse = True

    def __init__(self, header: Sequence[str]) -> None:
        self._columns = Columns(header, REQUIRED)

    @staticmethod
    def recognises(header: Sequence[str]) -> bool:
        return set(REQUIRED) <= set(header)

    def parse(self, line: str) -> TraceRow:
        """One csv line to a row. Raises ValueError saying what is wrong with the line."""
        cell = self._columns.of(line)
        return TraceRow(
            arrival_s=_seconds(cell["Timestamp"]),
            prompt_tokens=count(cell, "Request tokens", least=1),
            output_tokens=count(cell, "Response tokens", least=0),
            session=cell.get("Session ID", ""),
            model=cell["Model"],
        )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not math.isfinite(seconds):
        raise ValueError(f"Timestamp is {text!r}, not a number of seconds")
    return seconds
