"""Settings of `pointsman explain`."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.config.flags import Address, ConfigError, File

Ids = Annotated[tuple[str, ...], Meta(extra={"metavar": "ID", "positional": "yes"})]


class ExplainConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which request to tell of, and who knows of it."""

    id: Annotated[Ids, Meta(max_length=1, description="the request's id, as its answer's `x-request-id` told it")] = ()
    admin: Annotated[Address, Meta(description="admin address of a running gateway")] = "127.0.0.1:9080"
    journal: Annotated[File, Meta(description="ask this journal of `pointsman serve` instead")] = ""
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False


def asked_id(config: ExplainConfig) -> str:
    """The request's id. Raises ConfigError where none is named."""
    if not config.id:
        raise ConfigError("`id`: name the request: pointsman explain ID; its answer's header x-request-id has it")
    return config.id[0]
