"""What each kind of clients got, where several share a fleet: whether the long drag down the short, batch the chat."""

from collections.abc import Sequence

import msgspec
import numpy as np

from pointsman.observe.comparison import Window
from pointsman.observe.sampled import Numbers, quantile
from pointsman.sim.record import Record
from pointsman.sim.recorded import Recorded
from pointsman.sim.summary import Slo


class ClientFigures(msgspec.Struct, frozen=True):
    """What one kind got of the requests it sent in the window. Seconds; None where there is nothing to tell."""

    name: str
    requests: float
    success: float | None
    in_slo: float | None
    ttft_p50_s: float | None
    ttft_p99_s: float | None
    e2e_p50_s: float | None
    e2e_p99_s: float | None


def by_clients(records: Sequence[Record], kinds: Sequence[str], window: Window, slo: Slo) -> tuple[ClientFigures, ...]:
    """The figures of each kind, in order of their names; `kinds` has that of each dialogue, "" of a trace's."""
    names = sorted(set(kinds))
    if names == [""]:
        return ()
    rows = Recorded.of_records(records, ())
    rows = rows.only(rows.sent_in(window))
    kind = np.array([names.index(each) for each in kinds])[rows.dialogue]
    return tuple(_figures(name, rows.only(kind == place), slo) for place, name in enumerate(names))


def mean_by_clients(runs: Sequence[tuple[ClientFigures, ...]]) -> tuple[ClientFigures, ...]:
    """The means over runs of the same kinds; a figure that a run lacks is left out of its mean."""
    return tuple(
        ClientFigures(each[0].name, *(_mean(each, field) for field in ClientFigures.__struct_fields__[1:]))  # type: ignore[arg-type]
        for each in zip(*runs, strict=True)
    )


def _figures(name: str, rows: Recorded, slo: Slo) -> ClientFigures:
    ttft, e2e = rows.only(rows.streamed).ttft_s, np.where(rows.ok, rows.e2e_s, np.nan)
    return ClientFigures(
        name,
        len(rows),
        _share(rows.ok),
        _share(slo.met(rows)),
        quantile(ttft, 0.50),
        quantile(ttft, 0.99),
        quantile(e2e, 0.50),
        quantile(e2e, 0.99),
    )


def _share(flags: np.ndarray) -> float | None:
    return float(flags.mean()) if flags.size else None


def _mean(each: Sequence[ClientFigures], field: str) -> float | None:
    known: Numbers = np.array([value for one in each if (value := getattr(one, field)) is not None])
    return float(known.mean()) if known.size else None
