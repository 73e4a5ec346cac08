"""The scene of plain servers over HTTP: what its servers and its gateway are told."""

import tomllib

from plain import engine_settings, gateway_settings, slowness

from pointsman.config.flags import convert
from pointsman.config.serve import ServeConfig, all_nodes
from pointsman.config.sim import SimConfig
from pointsman.sim.incidents import Slowdown
from pointsman.simulate.plan import planned

PLAN = planned(
    SimConfig(
        fleet="three-plain",
        workload="images",
        rate=5.0,
        seconds=20.0,
        declare=True,
        slowdown=(Slowdown(node="plain-2", factor=5.0, begins_s=5.0, ends_s=10.0),),
    )
)


def test_servers_are_those_of_the_simulation() -> None:
    settings = engine_settings(PLAN.nodes[0].profile)
    assert (settings.plain, settings.plain_base_seconds, settings.plain_slope_seconds) == (True, 0.1, 0.9)
    assert [slowness(PLAN, "plain-2", now) for now in (0.0, 5.0, 9.9, 10.0)] == [1.0, 5.0, 5.0, 1.0]
    assert slowness(PLAN, "plain-1", 7.0) == 1.0


def test_the_gateway_is_told_what_is_declared() -> None:
    urls = [f"http://127.0.0.1:{port}" for port in (9001, 9002, 9003)]
    text = gateway_settings("peak_ewma", 8080, 9080, urls, PLAN)
    config = convert(tomllib.loads(text), ServeConfig, "it")
    assert [(node.url, node.engine, node.slots) for node in all_nodes(config)] == [(url, "plain", 10) for url in urls]
