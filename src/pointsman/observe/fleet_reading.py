"""The fleet at one moment, as whoever shows it needs it."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.view import Floats, Rows, View
from pointsman.observe.queues import oldest

IN_USE = (NodeState.UP, NodeState.SUSPECT)
_AS_THEY_ARE = (
    "outstanding",
    "queue_growth",
    "running",
    "slots",
    "backlog_tokens",
    "reported_running",
    "reported_waiting",
    "reported_kv_usage",
    "response_seconds",
)


class FleetReading(msgspec.Struct, frozen=True, kw_only=True):
    """Names, states and quantities, one entry a node and in the same order; shares are 0..1.

    `columns` holds whatever quantities the reader has, under the names of `families.PER_NODE`; `queues` the waiting
    requests per model, `oldest` how many seconds the first of them has waited, `panics` whether the model is in panic;
    `index_entries` the prefix blocks known. `residencies` tell by node how its cache is known, `event_ages` how many
    seconds ago those that report were heard; `known_prompts` count requests placed there by what was known of them.
    """

    nodes: Sequence[str] = ()
    states: Sequence[str] = ()
    columns: Mapping[str, Sequence[float]] = {}
    queues: Mapping[str, int] = {}
    oldest: Mapping[str, float] = {}
    panics: Mapping[str, bool] = {}
    index_entries: int = 0
    residencies: Mapping[str, str] = {}
    event_ages: Mapping[str, float] = {}
    known_prompts: Mapping[str, int] = {}

    def imbalance(self) -> float:
        """Standard deviation of load over the nodes that take work; 0 for fewer than two."""
        loads = [float(x) for x, s in zip(self.columns.get("load", ()), self.states, strict=False) if s in IN_USE]
        if len(loads) < 2:
            return 0.0
        mean = sum(loads) / len(loads)
        return float((sum((x - mean) ** 2 for x in loads) / len(loads)) ** 0.5)


def read(dispatcher: Dispatcher, now: float) -> FleetReading:
    """The dispatcher's nodes and queues as they are `now`; changes nothing."""
    fleet = dispatcher.fleet
    residency = dispatcher.placement.residency
    used = list(fleet.rows())
    rows = np.array(used, dtype=np.intp)
    columns = _columns(dispatcher, rows) | {"cap": fleet.cap[rows], "share": fleet.share[rows]}
    return FleetReading(
        nodes=[fleet.spec(row).name for row in used],
        states=[fleet.states[row] for row in used],
        columns={name: column.tolist() for name, column in columns.items()},
        queues=dispatcher.queued(),
        oldest=oldest(dispatcher, now),
        panics={model: fleet.panics(model) for model in dispatcher.models()},
        index_entries=len(dispatcher.placement.index),
        residencies={fleet.spec(row).name: fleet.spec(row).residency for row in used},
        event_ages={fleet.spec(row).name: age for row in used if (age := residency.age(row, now)) is not None},
        known_prompts={"report": residency.by_report, "belief": residency.by_belief} if residency.on else {},
    )


def _columns(dispatcher: Dispatcher, rows: Rows) -> dict[str, Floats]:
    view = View(
        dispatcher.fleet.table,
        rows,
        overlap=np.zeros(len(rows)),
        prompt_tokens=0.0,
        output_tokens=0.0,
        ttft_objective=dispatcher.settings.ttft_objective_s,
    )
    shares = {"load": view.load, "kv_reserved": view.kv_used, "kv_cached": view.kv_cached / view.kv_capacity}
    return shares | {name: getattr(view, name) for name in _AS_THEY_ARE}
