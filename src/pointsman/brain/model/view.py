"""What a policy sees for one request.

Strategy: a decision has microseconds, and a policy reads only a few of the fleet's many columns. So a view copies
nothing: it holds read-only aliases of the fleet's columns and the candidates' rows, and gathers a column when a policy
asks for it. Where every node is a candidate (the usual case) even that gather is skipped. Quantities that belong to
(request, node) pairs are derived on first use and kept for this view only. A view therefore shows the moment of its
making only until something is booked; whoever keeps one keeps its `snapshot`. A policy whose rule is a formula for one
candidate asks for it with `each`, which is cheapest for few candidates and as cheap as arrays can be for many.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from pointsman.brain.model import quantities
from pointsman.brain.model.candidate import Candidate
from pointsman.brain.model.quantities import FEW, Quantity

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]
Value = TypeVar("Value")

NEVER, LATER, NOW = 0, 1, 2
"""Whether a node's layout of memory has a place for a request: not even when empty, once others end, or at once."""

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
    "backlog_pairs",  # (uncached token x context token) pairs of these prompts
    "prefilled_seconds",  # of the work on them, what the oldest is believed to have had by now
    "context_tokens",  # tokens in the KV cache of live requests, booked
    "reported_running",  # requests the engine computes at its last report
    "reported_waiting",  # requests in the engine's own queue at its last report
    "reported_kv_usage",  # share of the engine's KV blocks in use at its last report
    "reported_gpu_busy",  # share of time its GPUs computed, at its last report; −1 where it tells none
    "sent_tokens",  # prompt tokens sent here since the last report of its load
    "reported_load",  # a plain server's own load figure at its last report; 0 where none
    "response_seconds",  # dispatch to first byte, peak EWMA
    "response_at_queue",  # dispatch to first byte, median of those that met about as many requests there as now
    "service_seconds",  # mean seconds a request spends here
    "recent_work",  # seconds of work sent here within the last 3 minutes
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

    identity: Floats
    outstanding: Floats
    running: Floats
    slots: Floats
    kv_capacity: Floats
    kv_reserved: Floats
    kv_cached: Floats
    block_tokens: Floats
    backlog_tokens: Floats
    backlog_pairs: Floats
    prefilled_seconds: Floats
    context_tokens: Floats
    reported_running: Floats
    reported_waiting: Floats
    reported_kv_usage: Floats
    reported_gpu_busy: Floats
    sent_tokens: Floats
    reported_load: Floats
    response_seconds: Floats
    response_at_queue: Floats
    service_seconds: Floats
    recent_work: Floats
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

    def read_only(self, rows: int) -> Columns:
        """Aliases of the first `rows` rows that refuse to be written."""
        aliases = {name: getattr(self, name)[:rows] for name in COLUMNS}
        for alias in aliases.values():
            alias.flags.writeable = False
        return Columns(**aliases)

    def gather(self, rows: Rows) -> Columns:
        """A copy of the given rows."""
        return Columns(**{name: getattr(self, name)[rows] for name in COLUMNS})


class Cells:
    """The same quantities cell by cell: reading or writing one number of an `array` costs half of what NumPy's does."""

    __slots__ = COLUMNS

    identity: array[float]
    outstanding: array[float]
    running: array[float]
    slots: array[float]
    kv_capacity: array[float]
    kv_reserved: array[float]
    kv_cached: array[float]
    block_tokens: array[float]
    backlog_tokens: array[float]
    backlog_pairs: array[float]
    prefilled_seconds: array[float]
    context_tokens: array[float]
    reported_running: array[float]
    reported_waiting: array[float]
    reported_kv_usage: array[float]
    reported_gpu_busy: array[float]
    sent_tokens: array[float]
    reported_load: array[float]
    response_seconds: array[float]
    response_at_queue: array[float]
    service_seconds: array[float]
    recent_work: array[float]
    speed: array[float]
    recovery_slope: array[float]
    queue_growth: array[float]
    prefill_base: array[float]
    prefill_per_token: array[float]
    prefill_per_pair: array[float]
    tpot_base: array[float]
    tpot_per_sequence: array[float]
    tpot_per_context: array[float]
    prediction_error: array[float]

    def __init__(self, rows: int) -> None:
        for name in COLUMNS:
            setattr(self, name, array("d", bytes(8 * rows)))

    def columns(self) -> Columns:
        """The columns made of these very cells: what is written to either shows in both."""
        return Columns(**{name: np.frombuffer(getattr(self, name)) for name in COLUMNS})


class _Derived(Generic[Value]):
    """A quantity made on first use and then an ordinary attribute of its view."""

    def __init__(self, make: Callable[[View], Value]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, view: None, owner: type) -> _Derived[Value]: ...

    @overload
    def __get__(self, view: View, owner: type) -> Value: ...

    def __get__(self, view: View | None, owner: type) -> _Derived[Value] | Value:
        if view is None:
            return self
        value = self._make(view)
        setattr(view, self._name, value)
        return value


def _column(name: str) -> _Derived[Floats]:
    """A column of the fleet as one row per candidate. Where all nodes are candidates, one brings all the others."""

    def gather(view: View) -> Floats:
        column: Floats = getattr(view.columns, name)
        if not view.whole:
            return column.take(view.nodes)
        vars(view).update(vars(view.columns))
        return column

    return _Derived(gather)


class View:
    """One request's sight of its candidates. Read-only; arrays have one row per candidate.

    `nodes` maps rows to fleet rows. `prompt_tokens` and `output_tokens` (expected) are tokens, `reserve_tokens` those
    of the output that blocks are reserved for, `overlap` is prompt tokens whose KV is on the node, `held` the same as
    it was given, a list or an array. `now` is seconds, `draw` 64 uniform bits, `sequence` the count of decisions for
    this model, `memo` what the model's choices last left behind. `ttft_objective` (seconds) scales backlog into load;
    `gateways` is how many gateways share the nodes. `cells`, where given, are those that `columns` alias.
    `places`, where some node's memory is not in pages, tells NEVER, LATER or NOW for each candidate. `kept`, where some
    keep memory ready for requests like this, are those blocks: they count as reserved, but not for this request.
    """

    def __init__(
        self,
        columns: Columns,
        nodes: Rows,
        *,
        overlap: Floats | list[float],
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
        reserve_tokens: float | None = None,
        places: Rows | None = None,
        kept: Floats | None = None,
        cells: Cells | None = None,
    ) -> None:
        self.columns = columns
        self.cells = cells
        self.nodes = nodes
        self.held = overlap
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.reserve_tokens = output_tokens if reserve_tokens is None else reserve_tokens
        self.places = places
        self.kept = kept
        self.now = now
        self.sequence = sequence
        self.draw = draw
        self.memo = memo
        self.whole = whole
        self.ttft_objective = ttft_objective
        self.gateways = gateways
        self.priority = priority

    identity = _column("identity")
    outstanding = _column("outstanding")
    running = _column("running")
    slots = _column("slots")
    kv_capacity = _column("kv_capacity")
    kv_reserved = _column("kv_reserved")
    kv_cached = _column("kv_cached")
    block_tokens = _column("block_tokens")
    backlog_tokens = _column("backlog_tokens")
    backlog_pairs = _column("backlog_pairs")
    prefilled_seconds = _column("prefilled_seconds")
    context_tokens = _column("context_tokens")
    reported_running = _column("reported_running")
    reported_waiting = _column("reported_waiting")
    reported_kv_usage = _column("reported_kv_usage")
    reported_gpu_busy = _column("reported_gpu_busy")
    sent_tokens = _column("sent_tokens")
    reported_load = _column("reported_load")
    response_seconds = _column("response_seconds")
    response_at_queue = _column("response_at_queue")
    service_seconds = _column("service_seconds")
    recent_work = _column("recent_work")
    speed = _column("speed")
    recovery_slope = _column("recovery_slope")
    queue_growth = _column("queue_growth")
    prefill_base = _column("prefill_base")
    prefill_per_token = _column("prefill_per_token")
    prefill_per_pair = _column("prefill_per_pair")
    tpot_base = _column("tpot_base")
    tpot_per_sequence = _column("tpot_per_sequence")
    tpot_per_context = _column("tpot_per_context")
    prediction_error = _column("prediction_error")

    def __len__(self) -> int:
        return len(self.nodes)

    def each(self, formula: Callable[[Any], Quantity]) -> Floats:
        """`formula` for every candidate: asked of a few one by one, of many once, with this view for all of them."""
        if self.cells is None or len(self.nodes) > FEW:
            amounts: Floats = formula(self)
            return amounts
        return np.array([formula(candidate) for candidate in self.candidates])

    @_Derived
    def candidates(self) -> list[Candidate]:
        """The candidates one by one, for views of few that are made with cells."""
        held = self.held if isinstance(self.held, list) else self.held.tolist()
        prompt, reserve, objective = float(self.prompt_tokens), float(self.reserve_tokens), self.ttft_objective
        return [
            Candidate(self.cells, row, overlap, prompt, reserve, objective)
            for row, overlap in zip(self.nodes.tolist(), held, strict=True)
        ]

    @_Derived
    def overlap(self) -> Floats:
        """Prompt tokens whose KV is on the node."""
        held = self.held
        return np.array(held) if isinstance(held, list) else held

    def overlap_of(self, index: int) -> float:
        """Prompt tokens whose KV is on one candidate."""
        held = self.held
        return held[index] if isinstance(held, list) else held.item(index)

    @property
    def most_overlap(self) -> float:
        """The most that any candidate holds of the prompt (tokens)."""
        held = self.held
        return max(held) if isinstance(held, list) else held.item(held.argmax())

    @_Derived
    def miss(self) -> Floats:
        """Prompt tokens the node would have to compute."""
        return self.prompt_tokens - self.overlap

    backlog_seconds: _Derived[Floats] = _Derived(quantities.backlog_seconds)
    prefill_seconds: _Derived[Floats] = _Derived(quantities.prefill_seconds)
    load: _Derived[Floats] = _Derived(quantities.load)
    blocks_needed: _Derived[Floats] = _Derived(quantities.blocks_needed)

    @_Derived
    def kv_used(self) -> Floats:
        """Share of KV blocks held by live requests, 0..1."""
        return self.kv_reserved / self.kv_capacity

    @_Derived
    def room_tokens(self) -> Floats:
        """Tokens the blocks not held by live requests could take, free or evictable."""
        return (self.kv_capacity - self.kv_reserved) * self.block_tokens

    @property
    def fits(self) -> Flags:
        """Whether the needed blocks are free, or cached and not the very ones this request reuses."""
        reserved = self.kv_reserved
        return self._fit_beside(reserved if self.kept is None else reserved - self.kept, NOW)

    @property
    def fits_empty(self) -> Flags:
        """Whether they would be if the node had nothing else to do."""
        return self._fit_beside(0.0, LATER)

    def _fit_beside(self, reserved: Floats | float, place: int) -> Flags:
        reused = self.overlap / self.block_tokens
        result: Flags = self.blocks_needed <= self.kv_capacity - reserved - reused
        return result if self.places is None else result & (self.places >= place)

    @property
    def utility(self) -> Floats:
        """priority / (memory x (1 + load)): value per unit of memory on each node.

        Memory is that of the blocks to be newly allocated, at least one, in tokens' worth of KV: the bytes of a token
        are those of the model, so they are the same on all candidates, be their blocks large or small.
        """
        return self.priority / (np.maximum(self.blocks_needed, 1.0) * self.block_tokens * (1.0 + self.load))

    def snapshot(self) -> View:
        """A copy that stays valid: its columns hold just the candidates' rows."""
        return self.among(np.arange(len(self)))

    def among(self, candidates: Rows) -> View:
        """A copy that sees only these of the candidates (rows of this view)."""
        return View(
            self.columns.gather(candidates if self.whole else self.nodes[candidates]),
            self.nodes[candidates],
            overlap=self.overlap[candidates],
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
            reserve_tokens=self.reserve_tokens,
            places=None if self.places is None else self.places[candidates],
            kept=None if self.kept is None else self.kept[candidates],
        )
