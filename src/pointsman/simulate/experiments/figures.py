"""The figures an experiment can show or claim something of, by their names in `Summary`, and how they are written.

`FIGURE of KIND` is that of one kind of clients, by its name in `ClientFigures`.
"""

from typing import Literal

import msgspec

from pointsman.config.flags import ConfigError
from pointsman.observe.columns import TIE
from pointsman.sim.by_clients import ClientFigures

Better = Literal["lower", "higher", ""]
CAPACITY = "rate_at_"
"""Begins the names of the highest rates: the share of requests inside the SLO, in per cent, follows."""
OF = " of "
"""Between a figure and the kind of clients whose it is."""


class Figure(msgspec.Struct, frozen=True):
    """`scale`: what its value is multiplied by to be shown in its unit."""

    heading: str
    unit: str
    form: str
    better: Better = "lower"
    scale: float = 1.0

    def text(self, value: float | None) -> str:
        """The value without its unit."""
        return "–" if value is None else format(self.scale * value, self.form)


FIGURES = {
    "success": Figure("success", "%", ".1f", "higher", 100),
    "in_slo": Figure("in SLO", "%", ".1f", "higher", 100),
    "goodput_rps": Figure("goodput", "/s", ".2f", "higher"),
    "throughput_rps": Figure("throughput", "/s", ".2f", "higher"),
    "ttft_mean_s": Figure("TTFT mean", "s", ".2f"),
    "ttft_p50_s": Figure("TTFT P50", "s", ".2f"),
    "ttft_p90_s": Figure("TTFT P90", "s", ".2f"),
    "ttft_p99_s": Figure("TTFT P99", "s", ".1f"),
    "ttft_longest_p99_s": Figure("TTFT P99, longest tenth", "s", ".1f"),
    "ttft_shorter_p99_s": Figure("TTFT P99, other nine tenths", "s", ".2f"),
    "tpot_mean_s": Figure("TPOT mean", "ms", ".1f", scale=1000),
    "tpot_p99_s": Figure("TPOT P99", "ms", ".0f", scale=1000),
    "gap_mean_s": Figure("worst gap, mean", "ms", ".0f", scale=1000),
    "gap_p99_s": Figure("worst gap, P99", "ms", ".0f", scale=1000),
    "e2e_mean_s": Figure("E2E mean", "s", ".2f"),
    "e2e_p50_s": Figure("E2E P50", "s", ".2f"),
    "e2e_p99_s": Figure("E2E P99", "s", ".1f"),
    "slowdown_mean": Figure("slowdown", "×", ".2f"),
    "wait_mean_s": Figure("wait mean", "ms", ".0f", scale=1000),
    "wait_p99_s": Figure("wait P99", "ms", ".0f", scale=1000),
    "long_dialogues": Figure("long dialogues", "%", ".1f", "higher", 100),
    "hit_ratio": Figure("hits", "%", ".1f", "higher", 100),
    "node_ms_per_token": Figure("node time per token", "ms", ".2f"),
    "imbalance": Figure("work imbalance", "CV", ".2f"),
    "in_flight_cv": Figure("in flight, spread", "CV", ".2f"),
    "busy": Figure("busy", "%", ".0f", "", 100),
    "service_gap": Figure("gap between tenants", "tokens", ".0f"),
    "lesser_share": Figure("share of who asks less", "%", ".1f", "", 100),
    "preemptions": Figure("preemptions", "", ".0f"),
    "retries": Figure("retries", "", ".0f"),
    "interruptions": Figure("interruptions", "", ".0f"),
    f"{CAPACITY}90": Figure("highest rate, 90 % in SLO", "/s", ".2f", "higher"),
    f"{CAPACITY}99": Figure("highest rate, 99 % in SLO", "/s", ".2f", "higher"),
}

OF_KINDS = {name: kind for name, kind in FIGURES.items() if name in ClientFigures.__struct_fields__}


def figure(name: str) -> Figure:
    """Raises ConfigError for a name that no figure has."""
    base, _, kind = name.partition(OF)
    known = OF_KINDS if kind else FIGURES
    if base not in known:
        raise ConfigError(f"`figure`: no figure {name!r}; there are: {', '.join(known)}")
    return known[base] if not kind else _of_kind(known[base], kind)


def _of_kind(whole: Figure, kind: str) -> Figure:
    """Told more finely where it is a time: a kind is looked at where little differences count."""
    form = ".2f" if whole.unit == "s" else whole.form
    return msgspec.structs.replace(whole, heading=f"{whole.heading}, {kind}", form=form)


def best_of(values: dict[str, float], better: Better) -> frozenset[str]:
    """Whose value is the best or within the tie of it; nobody where neither more nor less is better."""
    if not better or not values:
        return frozenset()
    best = max(values.values()) if better == "higher" else min(values.values())
    near = {name for name, value in values.items() if abs(value - best) <= TIE * abs(best)}
    return frozenset(near) if len(near) < len(values) else frozenset()
