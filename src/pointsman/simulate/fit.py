"""`pointsman sim fit`: recorded timings in, an engine's settings out."""

import json
import sys
from collections.abc import Iterator

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from pointsman.config.fit import ENGINE, FitConfig, profile, recorded_lines
from pointsman.config.flags import ConfigError
from pointsman.engine.profile import EngineProfile
from pointsman.observe.command_output import write_json
from pointsman.sim.fit import Fit
from pointsman.sim.fit import fit as fit_constants
from pointsman.sim.fit_comparison import Constants, Errors, TooFew
from pointsman.sim.timings import Timed, leading, timings
from pointsman.workload.blocks import TEMPLATE_TOKENS

FEW = 200
"""Requests below which a fit is told to be one of few."""
UNKNOWN = 0.10
"""A constant with a larger standard error is told not to be known."""
FIGURES = {"ttft": "TTFT", "tpot": "TPOT"}


def fit(config: FitConfig) -> int:
    """Print settings on stdout, and how well they fit on stderr; returns the exit status. Raises ConfigError."""
    plain = profile(config.engine())
    if plain.max_model_len <= 2 * TEMPLATE_TOKENS:
        raise ConfigError(f"`kv_blocks`: an engine with room for {plain.max_model_len} tokens can serve no request")
    nodes = leading(timings(recorded_lines(config), config.block_size, plain.max_model_len), config.requests)
    err = Console(stderr=True)
    try:
        found = _fitted(config, nodes, err)
    except TooFew as error:
        raise ConfigError(f"`recordings`: {error}") from None
    if config.json:
        write_json(found)
        return 0
    err.print(_table(found))
    for warning in warnings(found):
        err.print(f"pointsman sim fit: {warning}", markup=False, highlight=False, soft_wrap=True)
    sys.stdout.write(settings(config, found, len(nodes)))
    return 0


def _fitted(config: FitConfig, nodes: dict[str, list[Timed]], err: Console) -> Fit:
    def engines(constants: Constants) -> EngineProfile:
        return profile(config.engine(**msgspec.structs.asdict(constants)))

    columns = (TextColumn("fitting, round {task.completed:.0f}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as display:
        bar = display.add_task("fitting", total=None)
        return fit_constants(nodes, engines, lambda: display.advance(bar))


def settings(config: FitConfig, found: Fit, nodes: int) -> str:
    """TOML for the simulator's nodes, or for `pointsman engine`."""
    usual = FitConfig()
    lines = [f"# {line}" for line in _about(found)]
    if config.form == "sim":
        lines += ["[[node]]", 'name = "fitted"', f"count = {nodes}"]
    shown = [key for key in ENGINE if key in ("profile", "gpu", "tp") or getattr(config, key) != getattr(usual, key)]
    lines += [f"{key} = {json.dumps(getattr(config, key))}" for key in shown]
    lines += [f"{key} = {value:.4g}" for key, value in msgspec.structs.asdict(found.constants).items()]
    return "\n".join(lines) + "\n"


def warnings(found: Fit) -> Iterator[str]:
    """What to be careful with, as finished sentences."""
    count = min((one.requests for one in found.fitted.values()), default=0)
    if count < FEW:
        yield f"{count} streamed answers are few to fit to: record more, at several loads."
    for key in ("bandwidth_scale", "compute_scale"):
        error = getattr(found.uncertain, key)
        if error > UNKNOWN:
            yield f"{key} is not known from this (± {error:.0%}): {_WHY[key]}."
    for name, one in found.held_out.items():
        if one.median_error > 2 * max(UNKNOWN, found.fitted[name].median_error):
            yield f"{FIGURES[name]} is off by {one.median_error:.0%} where nothing was fitted: did the engines change?"


_WHY = {
    "bandwidth_scale": "time per token depends on it, so longer answers would tell",
    "compute_scale": "long prompts that are not cached depend on it, and there are few",
}


def _about(found: Fit) -> Iterator[str]:
    yield "Fitted by `pointsman sim fit`; ± is one standard error."
    off = found.uncertain
    yield (
        f"overhead ± {off.overhead_ms:.2g} ms, bandwidth ± {off.bandwidth_scale:.1%}, compute ± {off.compute_scale:.1%}"
    )
    for name, one in found.held_out.items():
        yield f"{FIGURES[name]} of {one.requests} requests held out: median error {one.median_error:.1%}"


def _table(found: Fit) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, title="Recorded and simulated, ms")
    table.add_column("")
    for heading in ("requests", "recorded", "simulated", "median error"):
        table.add_column(heading, justify="right")
    for part, errors in (("fitted", found.fitted), ("held out", found.held_out)):
        for name, one in errors.items():
            table.add_row(f"{FIGURES[name]}, {part}", *_cells(one))
    return table


def _cells(one: Errors) -> tuple[str, ...]:
    return str(one.requests), f"{1000 * one.recorded_s:.1f}", f"{1000 * one.simulated_s:.1f}", f"{one.median_error:.1%}"
