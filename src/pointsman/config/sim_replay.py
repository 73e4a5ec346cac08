"""Settings of `pointsman sim replay`: recorded traffic under other policies."""

from typing import Annotated

from msgspec import Meta

from pointsman.config.compare import CompareConfig
from pointsman.config.flags import ConfigError, Recordings, Span

A_DAY_S = 86_400.0


class SimReplayConfig(CompareConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim replay`: recorded traffic under several policies."""

    recordings: Annotated[Recordings, Meta(description="what `pointsman serve --recording FILE` wrote")] = ()
    jitter_s: Annotated[Span, Meta(description="move dialogues by up to so much, otherwise for each seed")] = 1.0
    seconds: Annotated[float, Meta(gt=0, description="simulated seconds in which requests are sent")] = A_DAY_S

    @property
    def traces(self) -> tuple[str, ...]:
        return self.recordings


def check_recordings(config: SimReplayConfig) -> None:
    """Whether there is a recording, and no other trace. Raises ConfigError."""
    if config.trace:
        raise ConfigError("`trace`: recordings are named without it: pointsman sim replay traffic.jsonl")
    if not config.recordings:
        raise ConfigError("`recordings`: name the files to replay: pointsman sim replay traffic.jsonl")
