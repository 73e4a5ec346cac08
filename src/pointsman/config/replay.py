"""Settings of `pointsman replay`."""

from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec
from msgspec import Meta

from pointsman.config.flags import ConfigError, File, Name


class ReplayConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which recorded run to decide again, and by whom."""

    journal: Annotated[File, Meta(description="journal written by `pointsman serve --journal FILE`")] = ""
    policy: Annotated[Name, Meta(description="decide by this policy instead of the recorded ones")] = ""
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False


def recorded(config: ReplayConfig) -> BinaryIO:
    """The journal, opened. Raises ConfigError when none is named or it cannot be read."""
    if not config.journal:
        raise ConfigError("`journal`: name the file to replay: pointsman replay --journal run.jsonl")
    try:
        return Path(config.journal).open("rb")
    except OSError as error:
        raise ConfigError(f"`journal`: {config.journal}: {error.strerror}{_of_workers(config.journal)}") from None


def _of_workers(journal: str) -> str:
    """The hint for somebody who names the journal as `serve --workers` was told it."""
    first = f"{journal}.1"
    return f"; its workers wrote {first} and so on, replay each" if Path(first).is_file() else ""
