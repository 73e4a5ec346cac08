"""The common form of one traced request, and what reading a trace gives."""

from typing import Annotated, Literal

import msgspec

HashId = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""What a trace calls a block of a prompt."""
FormatName = Literal["azure", "bailian", "burstgpt", "mooncake", "recording", "timed_trace"]


class TraceError(ValueError):
    """A trace cannot be read: names the file, the line and what was wrong there."""


class TraceRow(msgspec.Struct, frozen=True):
    """One request of a trace.

    `arrival_s`: seconds since the trace began. `block_ids`: one id for every `tokens_per_block` leading tokens of the
    prompt; an equal id stands for an equal prefix up to and including that block. Empty (with `tokens_per_block` 0)
    when the format knows nothing about shared prefixes. `session`, `model`: "" where the format has none. `think_s`:
    seconds between the answer to the session's request before and this one; None where the format does not tell.
    `answered_ids`: ids of the blocks of prompt and answer together, where the answer is known to become part of a
    prompt. `plain`: whether no stream was asked for.
    """

    arrival_s: float
    prompt_tokens: int
    output_tokens: int
    block_ids: tuple[int, ...] = ()
    tokens_per_block: int = 0
    session: str = ""
    turn: int = 0
    model: str = ""
    think_s: float | None = None
    answered_ids: tuple[int, ...] = ()
    tenant: str = ""
    priority: float = 1.0
    plain: bool = False


class Trace(msgspec.Struct, frozen=True):
    """A whole trace in order of arrival. `skipped`: bad rows left out (lenient reading); `first_problem` shows one."""

    name: str
    format: FormatName
    rows: tuple[TraceRow, ...]
    skipped: int = 0
    first_problem: str = ""

    @property
    def seconds(self) -> float:
        """From the first to the last arrival."""
        return self.rows[-1].arrival_s - self.rows[0].arrival_s if self.rows else 0.0
