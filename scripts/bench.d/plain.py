"""Three plain servers over real HTTP, beside the same scene simulated: response time and answers within 2 s.

Three emulated servers answer in 0.1 + 0.9 · load seconds, with a load from elsewhere that drifts; in the middle of the
run one of them may become slower. A gateway per policy, one after the other, gets the very requests of the simulation
at the same moments, which are real seconds here. It is the experiment `s1-plain-servers` with sockets.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import uvloop
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pointsman.brain.policies.registry import build
from pointsman.config.sim import SimConfig
from pointsman.demo.children import Child, free_ports
from pointsman.demo.http import until_ready
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig
from pointsman.sim.experiment import run
from pointsman.sim.incidents import Slowdown
from pointsman.simulate.plan import Plan, planned

PATH = "/v1/classify"
DRIFT_EVERY_S = 0.5
WITHIN_S = 2.0
GIVE_UP_S = 60.0


def main() -> int:
    options = arguments()
    plan = planned(settings(options))
    out = Console(stderr=True)
    rows = []
    for name in options.policies.split(","):
        out.print(f"{name}: {plan.seconds:.0f} s over HTTP", highlight=False)
        measured = uvloop.run(over_http(name, plan))
        rows.append({"policy": name, "http": measured, "simulated": simulated(name, plan)})
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        tell(rows, plan)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench plain", description=__doc__)
    usual = "round_robin,least_response_time,fastest_recovery,hybrid,fastest_completion"
    parser.add_argument("--policies", default=usual, help=f"one after the other (default: {usual})")
    parser.add_argument("--rate", type=float, default=16.0, help="requests per second (default: 16)")
    parser.add_argument("--seconds", type=float, default=120.0, help="of each policy (default: 120)")
    parser.add_argument("--slower", type=float, default=1.0, help="factor on one server's times for a third of the run")
    parser.add_argument("--declare", action="store_true", help="tell the gateway how many requests are full load")
    parser.add_argument("--seed", type=int, default=1, help="of the arrivals (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else on stdout")
    return parser.parse_args()


def settings(options: argparse.Namespace) -> SimConfig:
    third = options.seconds / 3
    slow = Slowdown(node="plain-2", factor=options.slower, begins_s=third, ends_s=2 * third)
    return SimConfig(
        fleet="three-plain",
        workload="images",
        rate=options.rate,
        seconds=options.seconds,
        seed=options.seed,
        declare=options.declare,
        slo_ttft_s=WITHIN_S,
        slowdown=(slow,) if options.slower != 1.0 else (),
    )


def simulated(name: str, plan: Plan) -> dict[str, Any]:
    """The same figures from the simulator."""
    summary = run(plan.experiment(build(name), 0), lambda _second: None).summary
    return {"mean_s": summary.e2e_mean_s, "p99_s": summary.e2e_p99_s, "in_time": summary.in_slo}


async def over_http(name: str, plan: Plan) -> dict[str, Any]:
    """Serve the plan's requests by a gateway with that policy, in real time."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        urls = []
        for node in plan.nodes:
            engine = await stack.enter_async_context(Engine(engine_settings(node.profile)))
            urls.append(f"http://127.0.0.1:{engine.port}")
        data, admin = free_ports(2)
        config = folder / "gateway.toml"
        config.write_text(gateway_settings(name, data, admin, urls, plan))
        gateway = Child("gateway", ["serve", "--config", str(config)], folder)
        stack.callback(gateway.end)
        await until_ready(session, f"http://127.0.0.1:{admin}/healthz", gateway.check)
        drifting = asyncio.create_task(drift(session, urls, plan))
        try:
            return await ask_all(session, f"http://127.0.0.1:{data}{PATH}", plan)
        finally:
            drifting.cancel()


def engine_settings(profile: Any) -> EngineConfig:
    service = profile.service
    return EngineConfig(
        port=0,
        plain=True,
        plain_base_seconds=service.base_seconds,
        plain_slope_seconds=service.slope_seconds,
        plain_capacity=service.capacity,
    )


def gateway_settings(policy: str, data: int, admin: int, urls: Sequence[str], plan: Plan) -> str:
    nodes = "\n".join(
        f'[[nodes]]\nurl = "{url}"\nengine = "plain"\nmodels = ["images"]'
        + (f"\nslots = {node.spec.slots}" if node.spec.slots else "")
        for url, node in zip(urls, plan.nodes, strict=True)
    )
    return (
        f'listen = "127.0.0.1:{data}"\nadmin_listen = "127.0.0.1:{admin}"\n'
        f"[brain]\nslow_start_s = 0.0\n"
        f'[routes."{PATH}"]\npool = "images"\npolicy = "{policy}"\n{nodes}\n'
    )


async def drift(session: aiohttp.ClientSession, urls: Sequence[str], plan: Plan) -> None:
    """Give the servers the load from elsewhere, and the slowness, that the plan's have at that moment."""
    began = time.monotonic()
    while True:
        now = time.monotonic() - began
        for url, node in zip(urls, plan.nodes, strict=True):
            slow = [
                one.factor
                for one in plan.incidents.slowdowns
                if one.node == node.name and one.begins_s <= now < one.ends_s
            ]
            body = {"drift": node.profile.drift_at(now), "factor": slow[0] if slow else 1.0}
            async with session.post(f"{url}/admin/drift", json=body) as response:
                response.raise_for_status()
        await asyncio.sleep(DRIFT_EVERY_S)


def slowness(plan: Plan, node: str, now: float) -> float:
    """The factor on that server's times."""
    slow = (one for one in plan.incidents.slowdowns if one.node == node and one.begins_s <= now < one.ends_s)
    return next((one.factor for one in slow), 1.0)


async def ask_all(session: aiohttp.ClientSession, url: str, plan: Plan) -> dict[str, Any]:
    """Send each request at its moment, whatever became of those before it."""
    began, warm = time.monotonic(), plan.config.warm_up * plan.seconds
    moments = [one.start_s for one in plan.demands[0].dialogues]
    asked = []
    for moment in moments:
        await asyncio.sleep(max(0.0, began + moment - time.monotonic()))
        asked.append(asyncio.create_task(ask(session, url)))
    took = await asyncio.gather(*asked)
    counted = np.array([seconds for moment, seconds in zip(moments, took, strict=True) if moment >= warm], dtype=float)
    return {
        "mean_s": float(np.nanmean(counted)),
        "p99_s": float(np.nanquantile(counted, 0.99)),
        "in_time": float(np.mean(counted <= WITHIN_S)),
    }


async def ask(session: aiohttp.ClientSession, url: str) -> float:
    """Seconds until the answer; NaN if there is none."""
    began = time.monotonic()
    try:
        async with session.post(url, json={"image": "x"}, timeout=aiohttp.ClientTimeout(GIVE_UP_S)) as response:
            await response.read()
            return time.monotonic() - began if response.status == 200 else float("nan")
    except (aiohttp.ClientError, TimeoutError):
        return float("nan")


def tell(rows: Sequence[dict[str, Any]], plan: Plan) -> None:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("policy", no_wrap=True)
    for where in ("HTTP", "simulated"):
        for what in ("mean s", "P99 s", "in 2 s %"):
            table.add_column(f"{where}\n{what}", justify="right")
    for row in rows:
        cells = [
            f"{scale * row[where][key]:{form}}"
            for where in ("http", "simulated")
            for key, scale, form in (("mean_s", 1, ".2f"), ("p99_s", 1, ".2f"), ("in_time", 100, ".1f"))
        ]
        table.add_row(row["policy"], *cells)
    out = Console()
    out.print(table, "", f"{plan.demands[0].description}; {plan.seconds:.0f} s a policy.", sep="\n", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
