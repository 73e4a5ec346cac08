"""One line of a recording: a request of live traffic, with Mooncake's fields and what came of it.

A line stands for itself, so files may be cut, rotated, concatenated and read in any number and order. Prompts are not
in it; `hash_ids` are chained hashes of the prompt's leading chunks.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

FIELDS = frozenset({"timestamp", "input_length", "output_length", "outcome"})
"""What tells a recording's line from one of Mooncake's."""

Count = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[float, Meta(ge=0)]


class Recorded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request. Lengths in tokens; times in milliseconds, `timestamp` since 1970 and the others since then.

    `hash_ids` cover `tokens_per_hash` tokens each, or `bytes_per_hash` of the prompt's `input_bytes`. `outcome` is
    how the last try ended (`ok`, `fail`, `busy`, `cancelled`) or `refused`, `reason` one word for why. `wait_ms` is
    when the last try began on `node`. Left out: what has its default, and what is not known, such as the first token
    of an answer that was not streamed.
    """

    timestamp: Milliseconds
    input_length: Annotated[int, Meta(ge=1)]
    output_length: Count
    hash_ids: tuple[int, ...] = ()
    tokens_per_hash: Annotated[float, Meta(ge=0)] = 0.0
    bytes_per_hash: Count = 0
    input_bytes: Count = 0
    session_id: int | str | None = None
    model: str = ""
    tenant: str = ""
    priority: float = 1.0
    stream: bool = False
    outcome: str
    reason: str = ""
    status: int = 200
    node: str = ""
    tries: Count = 0
    cached_length: Count | None = None
    wait_ms: Milliseconds | None = None
    ttft_ms: Milliseconds | None = None
    total_ms: Milliseconds | None = None

    @property
    def arrival_s(self) -> float:
        return self.timestamp / 1000

    @property
    def is_work(self) -> bool:
        """Whether an engine would generate an answer to it; the client's own mistakes are not."""
        return self.outcome != "ok" or self.status < 400


_decoder = msgspec.json.Decoder(Recorded)


def recorded(line: str) -> Recorded:
    """One line. Raises ValueError saying what is wrong with it."""
    return _decoder.decode(line)
