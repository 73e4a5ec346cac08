"""`pointsman cache replay`: a trace's prompts through one prefix cache under each eviction rule."""

from collections.abc import Callable
from functools import cache

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from pointsman.brain.cache.evicting import EvictingCache
from pointsman.brain.cache.eviction import EvictionRule
from pointsman.brain.costs.step_time import StepTime, prefill_seconds
from pointsman.config.cache import CacheReplayConfig, cached_trace, rules_of, step_time_of
from pointsman.observe.command_output import INTERRUPTED, write_json
from pointsman.workload.rows import Trace

TICKS = 100
"""How often, over a run, the bar moves."""


class Replayed(msgspec.Struct, frozen=True):
    """One rule at one capacity. `hits`: blocks found of those asked for; `seconds_saved`: what computing them takes."""

    rule: str
    capacity: int
    asked: int
    hits: int
    evictions: int
    seconds_saved: float

    @property
    def hit_ratio(self) -> float:
        return self.hits / self.asked


def main(config: CacheReplayConfig) -> int:
    """Replay and tell; returns the exit status. Raises ConfigError when a setting cannot be used."""
    rules, step_time = rules_of(config), step_time_of(config)
    trace, err = cached_trace(config), Console(stderr=True)
    try:
        with Progress(console=err, disable=not err.is_terminal) as display:
            bar = display.add_task("replaying", total=TICKS * len(rules) * len(config.blocks))
            results = [
                replayed(trace, capacity, rule, step_time, lambda: display.advance(bar))
                for capacity in config.blocks
                for rule in rules
            ]
    except KeyboardInterrupt:
        err.print("pointsman cache replay: interrupted")
        return INTERRUPTED
    if config.json:
        write_json(as_json(results, trace))
    else:
        tell(results, trace, Console())
    return 0


def replayed(
    trace: Trace, capacity: int, rule: EvictionRule, step_time: StepTime, tick: Callable[[], None]
) -> Replayed:
    """All prompts of the trace in order of arrival. `tick` is called TICKS times."""
    tokens = _block_tokens(trace)

    @cache
    def recompute(depth: int) -> float:
        return prefill_seconds(step_time, (depth + 1) * tokens, depth * tokens)

    blocks = EvictingCache(capacity, rule, recompute)
    hits, saved, ticked = 0, 0.0, 0
    for number, row in enumerate(trace.rows, start=1):
        found = blocks.use(row.block_ids, row.arrival_s)
        hits += found
        saved += sum(map(recompute, range(found)))
        while ticked < TICKS * number // len(trace.rows):
            ticked += 1
            tick()
    return Replayed(rule.name, capacity, _asked(trace), hits, blocks.evictions, saved)


def tell(results: list[Replayed], trace: Trace, out: Console) -> None:
    """Print a row per capacity and rule; the best rule of a capacity is bold."""
    table = Table(title=f"Evicting from one prefix cache: {trace.name}", title_justify="left", box=SIMPLE_HEAD)
    for heading in ("blocks", "tokens", "rule", "hit ratio", "evicted", "prefill saved"):
        table.add_column(heading, justify="left" if heading == "rule" else "right")
    for one in results:
        best = one.hits == max(other.hits for other in results if other.capacity == one.capacity)
        table.add_row(
            f"{one.capacity:,}",
            f"{one.capacity * _block_tokens(trace):,}",
            one.rule,
            f"{one.hit_ratio:.1%}",
            f"{one.evictions:,}",
            f"{one.seconds_saved:,.0f} s",
            style="bold" if best else "",
        )
    out.print(table)
    out.print(f"{len(trace.rows):,} prompts; with room for all, {_bound(trace):.1%} would be found.", style="dim")


def as_json(results: list[Replayed], trace: Trace) -> dict[str, object]:
    """The same for programs."""
    return {
        "trace": trace.name,
        "requests": len(trace.rows),
        "block_tokens": _block_tokens(trace),
        "unbounded_hit_ratio": _bound(trace),
        "results": [{**msgspec.structs.asdict(one), "hit_ratio": one.hit_ratio} for one in results],
    }


def _block_tokens(trace: Trace) -> int:
    return max(row.tokens_per_block for row in trace.rows)


def _asked(trace: Trace) -> int:
    return sum(len(row.block_ids) for row in trace.rows)


def _bound(trace: Trace) -> float:
    """Every block but the first of its kind is found where nothing is evicted."""
    return 1.0 - len({block for row in trace.rows for block in row.block_ids}) / _asked(trace)
