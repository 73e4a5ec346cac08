"""What the clients of a run ask: dialogues of requests, sizes and shared prefixes only.

Generated dialogues run closed loop: a turn is asked its think time after the answer before it. So do the sessions of
a trace that has any; else, or where that is asked for, traces run open loop: each row is a dialogue of one request.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from pointsman.brain.model.request import Chain
from pointsman.sim.fleet import MODEL
from pointsman.workload.blocks import answered_runs, fitted, session_blocks, session_runs
from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.runs import Runs, divided, ids_of
from pointsman.workload.sessions import Session
from pointsman.workload.turns import has_sessions, sessions_of

NO_PREFIXES = "The trace does not tell which prompts begin alike, so nothing is found in a cache"
LINK_TOKENS = 64
"""Tokens a link of a dialogue's chain covers: about what 256 bytes are, the chunks of the gateway."""

BLOCKS = 1 << 62
"""Above all ids that traces and dialogues give to blocks, which mean something else for another size of them."""


class Ask(Protocol):
    """One request. Sizes in tokens; `think_s`: seconds after the answer before it."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def think_s(self) -> float: ...

    def chain(self) -> Chain | None:
        """How the gateway knows the prompt; None where nothing is known of what it shares."""
        ...

    def runs(self, block_tokens: int) -> Runs:
        """How an engine with blocks of that size knows prompt and answer, as far as others can share them."""
        ...


def block_link(block: int) -> int:
    """How a block of an engine is known in chains of tokens: by what no link of another chain is."""
    return BLOCKS | block


def token_chain(ask: Ask, block_tokens: int) -> Chain | None:
    """How engines with blocks of that size know the prompt, as if its tokens were known; None where nothing is."""
    runs = divided(ask.runs(block_tokens), 1, ask.prompt_tokens // block_tokens)
    links = [block_link(block) for block in ids_of(runs)]
    return Chain("blocks", links, float(block_tokens)) if links else None


class TurnAsk(msgspec.Struct, frozen=True):
    """A turn of a generated dialogue. Its answer is part of the next turn's prompt, and cached as such."""

    session: Session
    turn: int

    @property
    def prompt_tokens(self) -> int:
        return self.session.prompt_tokens(self.turn)

    @property
    def output_tokens(self) -> int:
        return self.session.turns[self.turn].output_tokens

    @property
    def think_s(self) -> float:
        return self.session.turns[self.turn].think_s

    def chain(self) -> Chain | None:
        return Chain("trace", session_blocks(self.session, self.prompt_tokens, LINK_TOKENS), LINK_TOKENS)

    def runs(self, block_tokens: int) -> Runs:
        return session_runs(self.session, self.prompt_tokens + self.output_tokens, block_tokens)


class RowAsk(msgspec.Struct, frozen=True):
    """A request of a trace. What its answer becomes part of, recordings tell, and no other trace."""

    row: TraceRow

    @property
    def think_s(self) -> float:
        return self.row.think_s or 0.0

    @property
    def prompt_tokens(self) -> int:
        return self.row.prompt_tokens

    @property
    def output_tokens(self) -> int:
        return self.row.output_tokens

    def chain(self) -> Chain | None:
        row = self.row
        return Chain("trace", row.block_ids, row.tokens_per_block) if row.block_ids else None

    def runs(self, block_tokens: int) -> Runs:
        return answered_runs(self.row, 0, block_tokens) if self.row.block_ids else ()


class Dialogue(msgspec.Struct, frozen=True):
    """Requests asked one after the other, the first at `start_s`. `session`: its key, "" for none.

    `plain`: share of its requests that ask for no stream, whatever the run's own share. `kind`: of which clients it is,
    where several are told apart. `engine_priority`: what engines that schedule by priority go by, lower first.
    """

    start_s: float
    session: str
    asks: tuple[Ask, ...]
    tenant: str = ""
    model: str = MODEL
    priority: float = 1.0
    plain: float = 0.0
    kind: str = ""
    engine_priority: int = 0


class Demand(msgspec.Struct, frozen=True):
    """All dialogues in order of their beginning, and what to tell people about them."""

    dialogues: tuple[Dialogue, ...]
    description: str
    notes: tuple[str, ...] = ()


Demands = Callable[[int], Demand]
"""The demand of a seed. A trace is the same for all."""


def trace_demand(trace: Trace, seconds: float, most_tokens: int, *, open_loop: bool = False) -> Demand:
    """The requests of the trace's first `seconds`; what exceeds `most_tokens` is clipped, and counted.

    Sessions run closed loop, each turn its `think_s` after the answer before, unless all is to run in an open one.
    """
    rows = [row for row in trace.rows if row.arrival_s < seconds]
    fit = [fitted(row, most_tokens) for row in rows]
    clipped = sum(row.prompt_tokens != before.prompt_tokens for row, before in zip(fit, rows, strict=True))
    closed = not open_loop and has_sessions(trace)
    loop = "sessions in closed loop" if closed else "open loop"
    return Demand(
        tuple(_session(rows) for rows in (sessions_of(fit) if closed else [[row] for row in fit])),
        f"{len(rows)} requests of {trace.name}, {loop}, {len(rows) / seconds:.2f} requests/s",
        (
            *([] if any(row.block_ids for row in fit) else [NO_PREFIXES]),
            *([f"{clipped} prompts clipped to the engines' limit of {most_tokens} tokens"] if clipped else []),
            *([f"{trace.skipped} bad rows skipped; the first: {trace.first_problem}"] if trace.skipped else []),
        ),
    )


def _session(rows: Sequence[TraceRow]) -> Dialogue:
    first = rows[0]
    return Dialogue(
        first.arrival_s,
        first.session,
        tuple(RowAsk(row) for row in rows),
        tenant=first.tenant,
        priority=first.priority,
        plain=sum(row.plain for row in rows) / len(rows),
    )
