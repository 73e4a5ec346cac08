"""All nodes and their state, as columns: one NumPy array per quantity, one row per node.

Strategy: the arrays are allocated once for `capacity` rows, so estimators and the ledger may keep references to them
and write single cells; policies get read-only aliases of the rows in use (`table`). Who may be chosen for a model
changes only when membership, health or models change, so that answer is kept until `touch` says it is stale.
"""

from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

import msgspec
import numpy as np
from xxhash import xxh3_64_intdigest

from pointsman.brain.bounds import Bounds
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.view import COLUMNS, Cells, Floats, Rows

MAX_NODES = 4096
DEFAULT_SLOTS = 64
"""Concurrency assumed for a node that neither declares nor reports one."""
IN_USE = (NodeState.UP, NodeState.JOINING)
"""States of admitted nodes that are given work; those that join are back from a fall and on trial."""
PANIC_SHARE = 0.5
"""When fewer of a model's nodes than this are in use, what is known of the others is doubted."""

_OUT = (NodeState.DRAINING, NodeState.GONE)
_NO_ROWS: Rows = np.empty(0, dtype=np.intp)


class Found(NamedTuple):
    """What holds of a model as long as the fleet has this `version`: the nodes that may serve it, by row.

    `listed` are `rows` as a list, `whole` whether they are all rows in order, `trials` those on trial; see `panics`.
    """

    version: int
    rows: Rows
    listed: list[int]
    whole: bool
    panic: bool
    trials: list[int]


class Fleet:
    """Nodes by row. Mutated only by the dispatcher and the parts it composes.

    `columns` are the writable arrays (`capacity` rows), `cells` the same memory one number at a time, `table` aliases
    the rows in use, read-only. `cap` is the number of requests a row may hold now, `bound` how many may be outstanding
    when this gateway places another (see `bounds`); `share` is what a cap was lowered to, of what it would be, because
    the node is worse than its peers. `admitted` tells who has passed a first probe, `refusing` who refused the last
    connection, `well_at` when each last served a request or answered a probe well. A removed node's row is used again;
    `generation` tells its tenants apart.
    """

    def __init__(self, capacity: int = MAX_NODES) -> None:
        self.capacity = capacity
        self.cells = Cells(capacity)
        self.columns = self.cells.columns()
        self.bounds = Bounds(capacity)
        self.share: Floats = np.zeros(capacity)
        self.cap: Floats = self.bounds.cap
        self.bound: Floats = self.bounds.bound
        self.specs: list[NodeSpec | None] = []
        self.states: list[NodeState] = []
        self.models: list[frozenset[str]] = []
        self.admitted: list[bool] = []
        self.refusing: list[bool] = []
        self.well_at: list[float] = []
        self.generation: list[int] = []
        self.row_of: dict[str, int] = {}
        self.table = self.columns.read_only(0)
        self.version = 0
        self._found: dict[str, Found] = {}
        self._served: tuple[int, frozenset[str]] = (0, frozenset())
        self._free_rows: list[int] = []

    def __len__(self) -> int:
        """Rows in use, holes included."""
        return len(self.specs)

    def __bool__(self) -> bool:
        return bool(self.specs)

    def add(self, spec: NodeSpec) -> int:
        """Give the node a row of zeros with its declared abilities. Raises ValueError for a taken id or no room."""
        if spec.name in self.row_of:
            raise ValueError(f"there is already a node {spec.name!r}")
        row = self._take_row()
        self.specs[row] = spec
        self.states[row] = NodeState.JOINING
        self.models[row] = frozenset(spec.models)
        self.admitted[row] = self.refusing[row] = False
        self.well_at[row] = -inf
        self.generation[row] += 1
        self.row_of[spec.name] = row
        self._declare(row, spec)
        self.touch()
        return row

    def remove(self, row: int) -> None:
        """Free the row. The caller has made sure that nothing runs there."""
        spec = self.specs[row]
        assert spec is not None
        del self.row_of[spec.name]
        self.specs[row] = None
        self.states[row] = NodeState.GONE
        self.models[row] = frozenset()
        self._free_rows.append(row)
        self.bounds.clear(row)
        self.touch()

    @property
    def room(self) -> int:
        """How many nodes may still be added."""
        return self.capacity - len(self.row_of)

    def rename(self, row: int, name: str) -> None:
        """Let the node go by another id, so that its own is free. Raises ValueError for a taken one."""
        if name in self.row_of:
            raise ValueError(f"there is already a node {name!r}")
        spec = self.spec(row)
        self.row_of[name] = self.row_of.pop(spec.name)
        self.specs[row] = msgspec.structs.replace(spec, id=name)

    def spec(self, row: int) -> NodeSpec:
        """The node at `row`. Raises LookupError for a hole."""
        spec = self.specs[row]
        if spec is None:
            raise LookupError(f"no node at row {row}")
        return spec

    def rows(self) -> Iterator[int]:
        """Rows that hold a node."""
        return (row for row, spec in enumerate(self.specs) if spec is not None)

    def touch(self) -> None:
        """Forget cached candidate sets: membership, health or models changed."""
        self.version += 1

    def candidates(self, model: str) -> tuple[Rows, bool]:
        """Rows that may serve `model` by health, and whether they are all rows in order. Caps are not looked at.

        The nodes in use; in panic all but those that refuse connections.
        """
        found = self.found(model)
        return found.rows, found.whole

    def panics(self, model: str) -> bool:
        """Whether fewer than PANIC_SHARE of the nodes that should serve `model` are in use."""
        return self.found(model).panic

    def members(self, model: str) -> list[int]:
        """Rows whose node should serve `model`: admitted, and not drained on purpose."""
        return [row for row in self.serves(model) if self.admitted[row] and self.states[row] not in _OUT]

    def serves(self, model: str) -> list[int]:
        """Rows whose node serves `model`, whatever its health."""
        return [row for row in self.rows() if model in self.models[row]]

    def standing(self, model: str | None = None) -> str:
        """How the nodes (that serve `model`) are, for people: "2 down, 1 draining"."""
        rows = self.rows() if model is None else self.serves(model)
        states = Counter(str(self.states[row]) for row in rows)
        return ", ".join(f"{count} {state}" for state, count in states.most_common()) or "none"

    def served(self) -> frozenset[str]:
        """Every model some node serves, whatever its health."""
        if self._served[0] != self.version:
            self._served = (self.version, frozenset().union(*self.models))
        return self._served[1]

    def found(self, model: str) -> Found:
        """Who may serve `model` by health, and who is back from a fall and has to show first that he does."""
        kept = self._found.get(model)
        if kept is None or kept.version != self.version:
            if len(self._found) > 4 * self.capacity:
                self._found.clear()
            kept = self._found[model] = self._find(model)
        return kept

    def _find(self, model: str) -> Found:
        members = self.members(model)
        chosen = [row for row in members if self.states[row] in IN_USE]
        panic = len(chosen) < PANIC_SHARE * len(members)
        if panic:
            chosen = [row for row in members if not self.refusing[row]]
        rows = np.array(chosen, dtype=np.intp) if chosen else _NO_ROWS
        trials = [row for row in members if self.states[row] is NodeState.JOINING]
        return Found(self.version, rows, chosen, len(rows) == len(self), panic, trials)

    def _take_row(self) -> int:
        if self._free_rows:
            return self._free_rows.pop()
        if len(self.specs) >= self.capacity:
            raise ValueError(f"a fleet holds at most {self.capacity} nodes")
        self.specs.append(None)
        self.states.append(NodeState.GONE)
        self.models.append(frozenset())
        self.admitted.append(False)
        self.refusing.append(False)
        self.well_at.append(-inf)
        self.generation.append(0)
        self.table = self.columns.read_only(len(self.specs))
        return len(self.specs) - 1

    def _declare(self, row: int, spec: NodeSpec) -> None:
        columns = self.columns
        for name in COLUMNS:
            getattr(columns, name)[row] = 0.0
        columns.identity[row] = xxh3_64_intdigest(spec.name.encode()) >> 11
        columns.slots[row] = spec.slots or DEFAULT_SLOTS
        columns.block_tokens[row] = spec.block_tokens
        columns.kv_capacity[row] = declared_blocks(spec)
        columns.speed[row] = 1.0
        columns.reported_gpu_busy[row] = -1.0
        self.bounds.set_cap(row, float(columns.slots[row]) * spec.weight)


def declared_blocks(spec: NodeSpec) -> float:
    """KV capacity in blocks as the node declares it; inf if it does not."""
    return max(1, spec.kv_tokens // spec.block_tokens) if spec.kv_tokens else inf
