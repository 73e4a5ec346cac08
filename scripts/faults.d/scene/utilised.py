"""The stage of scenes under load: three engines at a share of what they can serve, and a load that is reproducible."""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from scene.asks import Shape
from scene.load import Load, demand, rate_at
from scene.settings import engine, settings
from scene.watch import Watch
from scene.world import Plan, World, world

GAP_MS = 50.0
BATCH = 32
PER_STREAM_MS = 0.2
TOKENS = (20, 60)
LEAD_IN_S = 5.0
"""Load before anything happens, and after all is well again."""


def arguments(made: argparse.ArgumentParser, seconds: float) -> None:
    """What all these scenes can be told."""
    made.add_argument("--seconds", type=float, default=seconds, help=f"of load (default: {seconds:.0f})")
    made.add_argument("--utilisation", type=float, default=0.4, help="share of what three engines serve (default: 0.4)")
    made.add_argument("--plain", type=float, default=0.2, help="share of requests that are not streamed (default: 0.2)")


def load_of(options: argparse.Namespace, port: int, seconds: float) -> Load:
    """A load of so many seconds; equal options give equal loads."""
    shape = Shape(TOKENS, plain_share=options.plain)
    rate = rate_at(options.utilisation, shape, options.seed, _engine(), engines=3)
    return Load(port, demand(shape, options.seed, rate, seconds))


@asynccontextmanager
async def stage(
    options: argparse.Namespace, run: str = "", shutdown_s: float = 2.0, **more: Any
) -> AsyncIterator[World]:
    """A started world, of the `run` of that name where a scene has several; `more` are further keys of the gateway."""
    flags = _engine(shutdown_seconds=shutdown_s)
    plan = Plan(flags, settings(options, **more), {"slots": BATCH}, workers=options.workers)
    async with world(plan, options.keep and f"{options.keep}/{run}") as here:
        yield here


def _engine(**more: Any) -> dict[str, Any]:
    return engine(GAP_MS, BATCH, decode_per_sequence_ms=PER_STREAM_MS, **more)


@asynccontextmanager
async def loaded(here: World, load: Load) -> AsyncIterator[Watch]:
    """The load runs and the nodes are watched; in the end every request is waited for."""
    watch = Watch(here.admin, load)
    loading = asyncio.create_task(load.run())
    watch.start()
    try:
        await asyncio.sleep(LEAD_IN_S)
        yield watch
        await loading
    finally:
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
        await watch.stop()
    here.audits.refresh()
