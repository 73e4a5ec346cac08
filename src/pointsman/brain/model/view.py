"""What a policy sees for one request.

Strategy: a decision has microseconds, and a policy reads only a few of the fleet's many columns. So a view copies
nothing: it holds read-only aliases of the fleet's columns and the candidates' rows, and gathers a column when a policy
asks for it. Where every node is a candidate (the usual case) even that gather is skipped. Quantities that belong to
(request, node) pairs are derived on first use and kept for this view only. A view therefore shows the moment of its
making only until something is booked; whoever keeps one keeps its `snapshot`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]

_HALF = np.array(0.5)  # NumPy converts a Python float anew in every call, at half the cost of the call itself

COLUMNS = (
    "identity",  # whole number below 2^53 made from the node's name: the same in every gateway and after a restart
    "outstanding",  # requests booked and not ended
    "running",  # of these, past their first token
    "slots",  # requests the engine runs at once
    "kv_capacity",  # blocks; inf where unknown
    "kv_reserved",  # blocks held by live leases
    "kv_cached",  # blocks believed cached and evictable
    "block_tokens",  # tokens per block
    "backlog_tokens",  # booked uncached prompt tokens not yet computed
    "context_tokens",  # tokens in the KV cache of live requests, booked
    "reported_running",  # requests the engine computes at its last report
    "reported_waiting",  # requests in the engine's own queue at its last report
    "reported_kv_usage",  # share of the engine's KV blocks in use at its last report
    "reported_load",  # a plain server's own load figure at its last report; 0 where none
    "response_seconds",  # dispatch to first byte, peak EWMA
    "service_seconds",  # mean seconds a request spends here
    "speed",  # prefill tokens/s over the fleet's median
    "recovery_slope",  # fall of load per second; positive while recovering
    "queue_growth",  # rise of outstanding requests per second
    "prefill_base",  # s
    "prefill_per_token",  # s per uncached token
    "prefill_per_pair",  # s per (uncached token x context token)
    "tpot_base",  # s
    "tpot_per_sequence",  # s per request in the batch
    "tpot_per_context",  # s per token of context in the batch
    "prediction_error",  # mean |measured/predicted − 1| of late; large until there is feedback
)


class Columns:
    """One array per quantity, one row per node. Units stand beside the names in `COLUMNS`."""

    __slots__ = COLUMNS

    identity: Floats
    outstanding: Floats
    running: Floats
    slots: Floats
    kv_capacity: Floats
    kv_reserved: Floats
    kv_cached: Floats
    block_tokens: Floats
    backlog_tokens: Floats
    context_tokens: Floats
    reported_running: Floats
    reported_waiting: Floats
    reported_kv_usage: Floats
    reported_load: Floats
    response_seconds: Floats
    service_seconds: Floats
    speed: Floats
    recovery_slope: Floats
    queue_growth: Floats
    prefill_base: Floats
    prefill_per_token: Floats
    prefill_per_pair: Floats
    tpot_base: Floats
    tpot_per_sequence: Floats
    tpot_per_context: Floats
    prediction_error: Floats

    def __init__(self, **arrays: Floats) -> None:
        for name in COLUMNS:
            setattr(self, name, arrays[name])

    @classmethod
    def zeros(cls, rows: int) -> Columns:
        return cls(**{name: np.zeros(rows) for name in COLUMNS})

    def read_only(self, rows: int) -> Columns:
        """Aliases of the first `rows` rows that refuse to be written."""
        aliases = {name: getattr(self, name)[:rows] for name in COLUMNS}
        for alias in aliases.values():
            alias.flags.writeable = False
        return Columns(**aliases)

    def gather(self, rows: Rows) -> Columns:
        """A copy of the given rows."""
        return Columns(**{name: getattr(self, name)[rows] for name in COLUMNS})


class _Column:
    """A column of the fleet as one row per candidate."""

    __slots__ = ("name",)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, view: View, owner: type) -> Floats:
        column: Floats = getattr(view.columns, self.name)
        return column if view.whole else column.take(view.nodes)


class View:
    """One request's sight of its candidates. Read-only; arrays have one row per candidate.

    `nodes` maps rows to fleet rows. `prompt_tokens` and `output_tokens` (expected) are tokens, `overlap` is prompt
    tokens whose KV is on the node, `now` seconds, `draw` 64 uniform bits, `sequence` the count of decisions for this
    model, `memo` what the model's choices last left behind.
    `ttft_objective` (seconds) scales backlog into load; `gateways` is how many gateways share the nodes.
    """

    __slots__ = (
        "_cache",
        "columns",
        "draw",
        "gateways",
        "memo",
        "nodes",
        "now",
        "output_tokens",
        "overlap",
        "priority",
        "prompt_tokens",
        "sequence",
        "ttft_objective",
        "whole",
    )

    def __init__(
        self,
        columns: Columns,
        nodes: Rows,
        *,
        overlap: Floats,
        prompt_tokens: float,
        output_tokens: float,
        now: float = 0.0,
        sequence: int = 0,
        draw: int = 0,
        memo: Any = None,
        whole: bool = False,
        ttft_objective: float = 5.0,
        gateways: int = 1,
        priority: float = 1.0,
    ) -> None:
        self.columns = columns
        self.nodes = nodes
        self.overlap = overlap
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.now = now
        self.sequence = sequence
        self.draw = draw
        self.memo = memo
        self.whole = whole
        self.ttft_objective = ttft_objective
        self.gateways = gateways
        self.priority = priority
        self._cache: dict[str, Any] = {}

    identity = _Column()
    outstanding = _Column()
    running = _Column()
    slots = _Column()
    kv_capacity = _Column()
    kv_reserved = _Column()
    kv_cached = _Column()
    block_tokens = _Column()
    backlog_tokens = _Column()
    context_tokens = _Column()
    reported_running = _Column()
    reported_waiting = _Column()
    reported_kv_usage = _Column()
    reported_load = _Column()
    response_seconds = _Column()
    service_seconds = _Column()
    speed = _Column()
    recovery_slope = _Column()
    queue_growth = _Column()
    prefill_base = _Column()
    prefill_per_token = _Column()
    prefill_per_pair = _Column()
    tpot_base = _Column()
    tpot_per_sequence = _Column()
    tpot_per_context = _Column()
    prediction_error = _Column()

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def miss(self) -> Floats:
        """Prompt tokens the node would have to compute."""
        if "miss" not in self._cache:
            self._cache["miss"] = self.prompt_tokens - self.overlap
        miss: Floats = self._cache["miss"]
        return miss

    @property
    def backlog_seconds(self) -> Floats:
        """Seconds of booked prefill ahead of this request: the time until the node would turn to it."""
        if "backlog_seconds" not in self._cache:
            self._cache["backlog_seconds"] = self.backlog_tokens * self.prefill_per_token
        seconds: Floats = self._cache["backlog_seconds"]
        return seconds

    @property
    def prefill_seconds(self) -> Floats:
        """Seconds to compute this request's uncached tokens, linear and attention part."""
        if "prefill_seconds" not in self._cache:
            seconds = self.overlap + self.prompt_tokens  # overlap + miss/2 = (overlap + prompt)/2
            seconds *= self.prefill_per_pair
            seconds *= _HALF
            seconds += self.prefill_per_token
            seconds *= self.miss
            seconds += self.prefill_base
            self._cache["prefill_seconds"] = seconds
        prefill: Floats = self._cache["prefill_seconds"]
        return prefill

    @property
    def kv_used(self) -> Floats:
        """Share of KV blocks held by live requests, 0..1."""
        return self.kv_reserved / self.kv_capacity

    @property
    def load(self) -> Floats:
        """max(KV share, outstanding/slots, backlog seconds/TTFT objective, the server's own figure)."""
        if "load" not in self._cache:
            load = self.outstanding / self.slots
            np.maximum(load, self.kv_used, out=load)
            np.maximum(load, self.backlog_seconds * (1.0 / self.ttft_objective), out=load)
            self._cache["load"] = np.maximum(load, self.reported_load, out=load)
        value: Floats = self._cache["load"]
        return value

    @property
    def room_tokens(self) -> Floats:
        """Tokens the blocks not held by live requests could take, free or evictable."""
        if "room_tokens" not in self._cache:
            self._cache["room_tokens"] = (self.kv_capacity - self.kv_reserved) * self.block_tokens
        room: Floats = self._cache["room_tokens"]
        return room

    @property
    def blocks_needed(self) -> Floats:
        """Blocks to be newly allocated: prompt and expected output less what is cached, rounded up."""
        if "blocks_needed" not in self._cache:
            tokens = self.miss + self.output_tokens
            tokens /= self.block_tokens
            self._cache["blocks_needed"] = np.ceil(tokens, out=tokens)
        blocks: Floats = self._cache["blocks_needed"]
        return blocks

    @property
    def fits(self) -> Flags:
        """Whether the needed blocks are free, or cached and not the very ones this request reuses."""
        reused = self.overlap / self.block_tokens
        available = self.kv_capacity - self.kv_reserved - reused
        result: Flags = self.blocks_needed <= available
        return result

    @property
    def utility(self) -> Floats:
        """priority / (blocks needed x (1 + load)): value per unit of memory on each node."""
        return self.priority / (np.maximum(self.blocks_needed, 1.0) * (1.0 + self.load))

    def snapshot(self) -> View:
        """A copy that stays valid: its columns hold just the candidates' rows."""
        return View(
            self.columns.gather(self.nodes),
            self.nodes.copy(),
            overlap=self.overlap.copy(),
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
            now=self.now,
            sequence=self.sequence,
            draw=self.draw,
            memo=self.memo,
            whole=True,
            ttft_objective=self.ttft_objective,
            gateways=self.gateways,
            priority=self.priority,
        )
