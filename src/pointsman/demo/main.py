"""The command: plan, compare while telling how far it is, tell the result."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console

from pointsman import __version__
from pointsman.brain.policies.registry import UnknownPolicy, build
from pointsman.clock import unix_seconds
from pointsman.config.demo import DemoConfig, check_report, read_demo_trace, write_report
from pointsman.config.flags import ConfigError
from pointsman.observe.columns import ARROWS, rows_of
from pointsman.observe.command_output import INTERRUPTED, write_json
from pointsman.observe.page import Disturbance, Page
from pointsman.observe.page import Run as PageRun
from pointsman.observe.pages import MissingExtra, check_libraries
from pointsman.observe.report import render
from pointsman.observe.table import MARKS, comparison_table
from pointsman.workload.rows import TraceError

from .errors import DemoError
from .plan import load_of, planned, policies_of
from .progress import progress
from .result import Result, Round
from .run import Plan, compare


def main(config: DemoConfig) -> int:
    """Run the comparison and print it; returns the exit status: 0, 1 when it could not run, 130 when interrupted.

    Raises ConfigError when a setting cannot be used: a policy, the trace, the place of the report.
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
    """What can be known to be wrong before two minutes are spent. Raises ConfigError or MissingExtra."""
    for policy in config.policies or ():
        try:
            build(policy)
        except UnknownPolicy as error:
            raise ConfigError(f"`policies`: {error}") from None
    if config.report:
        check_libraries()
        check_report(config)


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
        remarks=plan.demand.notes,
        saturation_rps=saturation,
        load=load_of(config),
        seed=config.seed,
        time_scale=plan.time_scale,
        cpus=os.cpu_count() or 1,
    )


def _compared(plan: Plan, config: DemoConfig, err: Console) -> list[Round]:
    with (
        progress(policies_of(config), plan.seconds, err) as tick,
        tempfile.TemporaryDirectory(prefix="pointsman-demo-") as folder,
    ):
        return _run(compare(plan, policies_of(config), Path(folder), tick))


def _run(work: Coroutine[Any, Any, list[Round]]) -> list[Round]:
    """Run to the end; SIGINT, SIGTERM and SIGHUP cancel it, so that its `finally` blocks end the child processes."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_terminable(work))


async def _terminable(work: Coroutine[Any, Any, list[Round]]) -> list[Round]:
    task = asyncio.current_task()
    if task is not None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup wants to be left alone
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await work


def _tell(config: DemoConfig, result: Result, err: Console) -> None:
    """Write the report first, as who reads what is printed may leave; and print, whatever becomes of the report."""
    try:
        if config.report:
            write_report(config, render(_page(result)))
            err.print(f"report written to {config.report}", markup=False, highlight=False, soft_wrap=True)
    finally:
        if config.json:
            write_json(result.as_json())
        else:
            _print(result, Console())


def _print(result: Result, out: Console) -> None:
    """The table, what must not be missed, and what was measured. In a pipe, no cell can be bold, so none is said to."""
    marks = MARKS if out.is_terminal and out.color_system else ""
    scene = result.scene
    rows = rows_of([one.figures for one in result.rounds], scene.columns)
    caption = f"{result.caption()}\n{ARROWS} {marks}"
    out.print(comparison_table(rows, title=scene.title, caption=caption, columns=scene.columns))
    for style, sentences in (("yellow", result.findings()), ("dim", result.notes())):
        if sentences:
            out.print("", *sentences, sep="\n", style=style, markup=False, highlight=False)


def _page(result: Result) -> Page:
    scene, seconds = result.scene, result.window.end_s
    fault = scene.fault
    return Page(
        title=scene.title,
        made=f"Made by Pointsman {__version__} on {datetime.fromtimestamp(unix_seconds()):%Y-%m-%d at %H:%M}.",
        caption=result.caption(),
        findings=tuple(result.findings()),
        notes=tuple(result.notes()),
        runs=tuple(PageRun(one.figures, one.samples) for one in result.rounds),
        nodes=tuple(node.name for node in scene.nodes),
        seconds=seconds,
        window=result.window,
        disturbance=Disturbance(fault.node, fault.begins * seconds, fault.ends * seconds) if fault else None,
        columns=scene.columns,
    )
