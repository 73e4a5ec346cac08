"""Azure LLM inference traces: csv `TIMESTAMP,ContextTokens,GeneratedTokens` (Azure/AzurePublicDataset)."""

from collections.abc import Sequence
from datetime import UTC, datetime

from .columns import Columns, count
from .rows import FormatName, TraceRow

REQUIRED = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


class AzureFormat:
    """Parses rows of one file. `arrival_s` counts from the year 1970; the reader shifts it to the first row."""

    name: FormatName = "azure"
    coarse = False

    def __init__(self, header: Sequence[str]) -> None:
        self._columns = Columns(header, REQUIRED)

    @staticmethod
    def recognises(header: Sequence[str]) -> bool:
        return set(REQUIRED) <= set(header)

    def parse(self, line: str) -> TraceRow:
        """One csv line to a row. Raises ValueError saying what is wrong with the line."""
        cell = self._columns.of(line)
        return TraceRow(
            arrival_s=_moment(cell["TIMESTAMP"]),
            prompt_tokens=count(cell, "ContextTokens", least=1),
            output_tokens=count(cell, "GeneratedTokens", least=0),
        )


def _moment(text: str) -> float:
    """The 2023 files stamp without a zone, the 2024 files in UTC: both are read as UTC."""
    stamp = datetime.fromisoformat(text)
    return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
