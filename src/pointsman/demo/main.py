"""The command: plan, compare with progress bars, tell."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import uvloop
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from pointsman.brain.policies.registry import UnknownPolicy, build
from pointsman.config.demo import DemoConfig, read_demo_trace, write_report
from pointsman.observe.page import Disturbance, Page
from pointsman.observe.page import Run as PageRun
from pointsman.observe.report import MissingExtra, check_libraries, render
from pointsman.observe.table import comparison_table
from pointsman.workload.rows import TraceError

from .errors import DemoError
from .plan import planned
from .result import Result, Round
from .run import Plan, compare

TITLE = "Policies on an uneven fleet, one node of which degrades and recovers"
INTERRUPTED = 130  # what a shell reports for Ctrl-C


def main(config: DemoConfig) -> int:
    """Run the comparison and print it; returns the exit status: 0, 1 when it could not run, 130 when interrupted.

    Raises ConfigError when the report cannot be written where the settings say.
    """
    err = Console(stderr=True)
    try:
        _check(config)
        result = _measured(config, err)
    except (DemoError, TraceError, MissingExtra) as error:
        err.print(f"pointsman demo: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        err.print("pointsman demo: interrupted; all engines and gateways are ended")
        return INTERRUPTED
    _tell(config, result, err)
    return 0


def _check(config: DemoConfig) -> None:
    """What can be known to be wrong before two minutes are spent. Raises DemoError, MissingExtra or ConfigError."""
    for policy in config.policies:
        try:
            build(policy)
        except UnknownPolicy as error:
            raise DemoError(str(error)) from None
    if config.report:
        check_libraries()
        write_report(config, "")


def _measured(config: DemoConfig, err: Console) -> Result:
    with err.status("measuring what the fleet could serve"):
        trace = read_demo_trace(config)
        plan, saturation = planned(config, trace)
    rounds = _compared(plan, config, err)
    return Result(
        rounds=tuple(rounds),
        scene=plan.scene,
        window=plan.window,
        workload=plan.demand.description,
        notes=plan.demand.notes,
        saturation_rps=saturation,
        load=config.load,
        seed=config.seed,
        time_scale=plan.time_scale,
        cpus=os.cpu_count() or 1,
    )


def _compared(plan: Plan, config: DemoConfig, err: Console) -> list[Round]:
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} engine seconds"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err) as progress, tempfile.TemporaryDirectory(prefix="pointsman-demo-") as folder:
        bars = {policy: progress.add_task(policy, total=plan.seconds, start=False) for policy in config.policies}
        return _run(compare(plan, config.policies, Path(folder), _ticker(progress, bars)))


def _ticker(progress: Progress, bars: dict[str, TaskID]) -> Callable[[str, float], None]:
    def tick(policy: str, engine_second: float) -> None:
        progress.start_task(bars[policy])
        progress.update(bars[policy], completed=engine_second)

    return tick


def _run(work: Coroutine[Any, Any, list[Round]]) -> list[Round]:
    """Run to the end; SIGINT and SIGTERM cancel it, so that its `finally` blocks end the child processes."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_terminable(work))


async def _terminable(work: Coroutine[Any, Any, list[Round]]) -> list[Round]:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def _tell(config: DemoConfig, result: Result, err: Console) -> None:
    if config.report:
        write_report(config, render(_page(result)))
        err.print(f"report written to {config.report}", markup=False)
    if config.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(result.as_json()), indent=2).decode() + "\n")
        return
    rows = [one.figures for one in result.rounds]
    Console().print(comparison_table(rows, title=TITLE, caption="\n".join(result.caption())))


def _page(result: Result) -> Page:
    fault, seconds = result.scene.fault, result.window.end_s
    return Page(
        title=TITLE,
        caption=tuple(result.caption()),
        runs=tuple(PageRun(one.figures, one.samples) for one in result.rounds),
        nodes=tuple(node.name for node in result.scene.nodes),
        seconds=seconds,
        window=result.window,
        disturbance=Disturbance(fault.node, fault.begins * seconds, fault.ends * seconds),
    )
