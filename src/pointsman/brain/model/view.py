"""What a policy sees for one request.

Strategy: a decision has microseconds, and a policy reads only a few of the fleet's many columns. So a view copies
nothing: it holds read-only aliases of the fleet's columns and the candidates' rows, and gathers a column when a policy
asks for it. Where every node is a candidate (the usual case) even that gather is skipped. Quantities that belong to
(request, node) pairs are derived on first use and kept for this view only. A view therefore shows the moment of its
making only until something is booked; whoever keeps one keeps its `snapshot`. NumPy takes a third of a microsecond for
any operation, be it on two nodes or on two hundred, and compiled code a few nanoseconds for one on two floats: where a
view `is_small` a rule that must be fast works on its `candidates` one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mypy_extensions import mypyc_attr

from pointsman.brain.model.candidate import Candidate
from pointsman.brain.model.columns import COLUMNS, Cells, Columns, Flags, Floats, Rows
from pointsman.brain.model.draw import draw
from pointsman.brain.model.sight import Sight

__all__ = ["COLUMNS", "FEW", "LATER", "NEVER", "NOW", "Cells", "Columns", "Flags", "Floats", "Number", "Rows", "View"]

NEVER, LATER, NOW = 0, 1, 2
"""Whether a node's layout of memory has a place for a request: not even when empty, once others end, or at once."""

FEW = 6
"""Up to so many candidates a formula over some dozen columns is worked out sooner one by one than in arrays."""
Number = Any
"""A float; in the view of a whole window (`policies/window.py`) an array of one for each ticket."""


@mypyc_attr(acyclic=True)
class View(Sight):
    """One request's sight of its candidates. Read-only; arrays have one row per candidate.

    `nodes` maps rows to fleet rows. `prompt_tokens` and `output_tokens` (expected) are tokens, `reserve_tokens` those
    of the output that blocks are reserved for, `overlap` is prompt tokens whose KV is on the node, `held` the same as
    it was given, a list or an array. `now` is seconds, `draw` 64 uniform bits, which may be given as the seed and the
    number of the decision that they follow from, `sequence` the count of decisions for this model, `memo` what the
    model's choices last left behind. `ttft_objective` (seconds) scales backlog into load; `gateways` is how many
    gateways share the nodes. `cells`, where given, are those that `columns` alias.
    `places`, where some node's memory is not in pages, tells NEVER, LATER or NOW for each candidate. `kept`, where some
    keep memory ready for requests like this, are those blocks: they count as reserved, but not for this request.
    `listed` are `nodes` as a list, where there is one already.
    """

    def __init__(
        self,
        columns: Columns,
        nodes: Rows,
        *,
        overlap: Floats | list[float],
        prompt_tokens: Number,
        output_tokens: Number,
        now: float = 0.0,
        sequence: int = 0,
        draw: int | tuple[int, int] = 0,
        memo: Any = None,
        whole: bool = False,
        ttft_objective: float = 5.0,
        gateways: int = 1,
        priority: Number = 1.0,
        reserve_tokens: Number | None = None,
        places: Rows | None = None,
        kept: Floats | None = None,
        cells: Cells | None = None,
        listed: list[int] | None = None,
    ) -> None:
        super().__init__(columns, nodes, whole)
        self.cells = cells
        self._listed = listed
        self.held = overlap
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.reserve_tokens = output_tokens if reserve_tokens is None else reserve_tokens
        self.places = places
        self.kept = kept
        self.now = now
        self.sequence = sequence
        self._draw = draw
        self.memo = memo
        self.ttft_objective = ttft_objective
        self.gateways = gateways
        self.priority = priority
        self._candidates: list[Candidate] | None = None
        self._overlap: Floats | None = None
        self._miss: Floats | None = None
        self._backlog_seconds: Floats | None = None
        self._prefill_seconds: Floats | None = None
        self._load: Floats | None = None
        self._blocks_needed: Floats | None = None
        self._room_tokens: Floats | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    def __bool__(self) -> bool:
        return len(self.nodes) > 0

    @property
    def draw(self) -> int:
        """64 uniform bits, worked out when they are needed: most choices need none."""
        if isinstance(self._draw, tuple):
            self._draw = draw(*self._draw)
        return self._draw

    @property
    def is_small(self) -> bool:
        """Whether there are few candidates, to be worked on one by one: `candidates`."""
        return self.cells is not None and len(self.nodes) <= FEW

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates one by one, for views that are made with cells."""
        if self._candidates is None:
            assert self.cells is not None
            cells, held = self.cells, self.held
            prompt, reserve, objective = float(self.prompt_tokens), float(self.reserve_tokens), self.ttft_objective
            rows: list[int] = self.nodes.tolist() if self._listed is None else self._listed
            overlap: list[float] = held if isinstance(held, list) else held.tolist()
            self._candidates = [
                Candidate(cells, rows[index], overlap[index], prompt, reserve, objective) for index in range(len(rows))
            ]
        return self._candidates

    def row_of(self, index: int) -> int:
        """The fleet row of one candidate."""
        return self.nodes.item(index) if self._listed is None else self._listed[index]

    @property
    def overlap(self) -> Floats:
        """Prompt tokens whose KV is on the node."""
        if self._overlap is None:
            held = self.held
            self._overlap = np.array(held) if isinstance(held, list) else held
        return self._overlap

    def overlap_of(self, index: int) -> float:
        """Prompt tokens whose KV is on one candidate."""
        held = self.held
        return held[index] if isinstance(held, list) else held.item(index)

    @property
    def most_overlap(self) -> float:
        """The most that any candidate holds of the prompt (tokens)."""
        held = self.held
        return max(held) if isinstance(held, list) else held.item(held.argmax())

    @property
    def miss(self) -> Floats:
        """Prompt tokens the node would have to compute."""
        if self._miss is None:
            self._miss = self.prompt_tokens - self.overlap
        return self._miss

    @property
    def backlog_seconds(self) -> Floats:
        """Seconds of booked prefill ahead of this request: the time until the node would turn to it."""
        if self._backlog_seconds is None:
            work = self.backlog_tokens * self.prefill_per_token + self.backlog_pairs * self.prefill_per_pair
            self._backlog_seconds = work - self.prefilled_seconds
        return self._backlog_seconds

    @property
    def prefill_seconds(self) -> Floats:
        """Seconds to compute this request's uncached tokens, linear and attention part."""
        if self._prefill_seconds is None:
            # The mean context of an uncached token is overlap + miss/2 = (overlap + prompt)/2.
            pairs = (self.overlap + self.prompt_tokens) * self.prefill_per_pair * 0.5
            self._prefill_seconds = (pairs + self.prefill_per_token) * self.miss + self.prefill_base
        return self._prefill_seconds

    @property
    def load(self) -> Floats:
        """max(KV share, outstanding/slots, backlog seconds/TTFT objective, the server's own figure)."""
        if self._load is None:
            filled, held = self.outstanding / self.slots, self.kv_reserved / self.kv_capacity
            waited = self.backlog_seconds * (1.0 / self.ttft_objective)
            self._load = np.maximum(np.maximum(filled, held), np.maximum(waited, self.reported_load))
        return self._load

    @property
    def load_seen(self) -> Floats | None:
        """The same where a policy has asked for it, None where none has: it need not be worked out to be told."""
        return self._load

    @property
    def blocks_needed(self) -> Floats:
        """Blocks to be newly allocated: prompt and reserved output less what is cached, rounded up."""
        if self._blocks_needed is None:
            self._blocks_needed = np.ceil((self.miss + self.reserve_tokens) / self.block_tokens)
        return self._blocks_needed

    @property
    def kv_used(self) -> Floats:
        """Share of KV blocks held by live requests, 0..1."""
        return self.kv_reserved / self.kv_capacity

    @property
    def room_tokens(self) -> Floats:
        """Tokens the blocks not held by live requests could take, free or evictable."""
        if self._room_tokens is None:
            self._room_tokens = (self.kv_capacity - self.kv_reserved) * self.block_tokens
        return self._room_tokens

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
        return self.utility_under(self.load)

    def utility_under(self, load: Floats) -> Floats:
        """The same as it was, or would be, under that load."""
        memory = np.maximum(self.blocks_needed, 1.0) * self.block_tokens
        value: Floats = self.priority / (memory * (1.0 + load))
        return value

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
