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
    rate = rate_at(options.utilisation, shape, options.seed, engine(GAP_MS, BATCH), engines=3)
    return Load(port, demand(shape, options.seed, rate, seconds))


@asynccontextmanager
async def stage(
    options: argparse.Namespace, engines: dict[str, Any] | None = None, **more: Any
) -> AsyncIterator[World]:
    """A started world; `engines` are further flags of the engines, `more` further keys of the gateway's file."""
    flags = engine(GAP_MS, BATCH, **(engines or {}))
    plan = Plan(flags, settings(options, **more), {"slots": BATCH}, workers=options.workers)
    async with world(plan, options.keep) as here:
        yield here


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
