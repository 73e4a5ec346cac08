"""Nodes are asked how they are, and what they say is reported."""

from pathlib import Path
from typing import Any, cast

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Order, Probe
from pointsman.brain.model.reports import NodeReport
from pointsman.gateway.driver import Brain
from pointsman.gateway.settings import Timeouts

from .conftest import World, chat
from .scripted_upstream import DONE, HANG, ROLE, ScriptedUpstream, always, event, respond, stream

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
GOOD = always(respond(b"{}"))
PATIENT = Timeouts(probe_s=30.0, lame_duck_s=0)
QUICK = Timeouts(probe_s=0.1, lame_duck_s=0)
"""Only where nothing comes anyway: on a busy machine an answer may take that long."""


class Listening:
    """A brain that keeps what is reported to it. Given `away`, it is told nothing itself."""

    def __init__(self, world: World, *, away: bool = False) -> None:
        self._dispatcher = world.dispatcher
        self._away = away
        self.reports: list[NodeReport] = []
        world.gateway.driver.dispatcher = cast(Brain, self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    def report(self, report: NodeReport, now: float) -> list[Order]:
        self.reports.append(report)
        return [] if self._away else self._dispatcher.report(report, now)


async def report_of(
    world: World, pages: dict[str, bytes], *, timeouts: Timeouts = PATIENT, node_key: str = "", **spec: Any
) -> NodeReport:
    """The first report on a node with `pages`."""
    async with ScriptedUpstream(GOOD) as node:
        node.pages = pages
        await world.start([], timeouts=timeouts, node_key=node_key)
        reports = Listening(world, away=True).reports
        world.gateway.add_node(NodeSpec(url=node.url, id="n", **spec))
        await world.until(lambda: bool(reports))
        keys = {probe.header("authorization") for probe in node.probes}
        assert keys == {f"Bearer {node_key}" if node_key else None}
    return reports[0]


async def test_a_real_vllms_pages(world: World) -> None:
    pages = {
        "/metrics": (VLLM / "metrics_busy_cache.http").read_bytes().replace(b"connection: close\r\n", b""),
        "/v1/models": (VLLM / "models.http").read_bytes().replace(b"connection: close\r\n", b""),
    }
    report = await report_of(world, pages, engine="vllm", node_key="inner")
    assert (report.node, report.ok, report.models) == ("n", True, ("tiny",))
    assert (report.running, report.waiting, report.kv_blocks, report.block_tokens) == (0, 0, 40, 32)
    assert report.started_at is not None


async def test_the_gpus_on_a_joined_page(world: World) -> None:
    page = b'vllm:num_requests_running{engine="0"} 2\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 85\n'
    report = await report_of(world, {"/metrics": respond(page)}, engine="vllm", models=("m",))
    assert (report.running, report.gpu_busy) == (2, 0.85)


async def test_configured_models_are_not_asked_for(world: World) -> None:
    report = await report_of(world, {"/v1/models": respond(b'{"data":[{"id":"other"}]}')}, models=("mine",))
    assert report.models == ("mine",)


async def test_a_plain_servers_status(world: World) -> None:
    pages = {"/status": respond(b'{"load":0.25,"running":3,"more":[]}')}
    report = await report_of(world, pages, engine="plain", models=("pool",))
    assert (report.ok, report.load, report.running, report.models) == (True, 0.25, 3, ("pool",))


@pytest.mark.parametrize("page", [respond(b"", 404), respond(b"x"), HANG])
async def test_pages_that_are_missing_wrong_or_late_take_no_node_out(world: World, page: bytes) -> None:
    timeouts = Timeouts(probe_s=0.5, lame_duck_s=0) if page is HANG else PATIENT  # its health is told in time
    report = await report_of(world, {"/metrics": page, "/v1/models": page}, timeouts=timeouts)
    assert report.ok
    assert report.models is None
    assert report.running is None


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (respond(b"", 401), "GET /v1/models answers 401: it wants a key, which `node_key_file` names"),
        (respond(b"", 404), "GET /v1/models answers 404; if the address is right, name the node's `models`"),
        (respond(b"x"), "GET /v1/models answers no list of models; if the address is right, name the node's `models`"),
        (b"hello\r\n\r\n", "GET /v1/models is not answered"),
        (respond(b'{"data":[]}'), ""),
    ],
)
async def test_why_a_node_has_no_models_is_told(world: World, page: bytes, why: str) -> None:
    report = await report_of(world, {"/v1/models": page})
    assert (report.ok, report.reason) == (True, why)


async def test_a_plain_server_has_no_way_to_list_models(world: World) -> None:
    report = await report_of(world, {}, engine="plain")
    assert (report.ok, report.reason) == (True, "a plain server lists no models: name the node's `models`")


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (respond(b"", 500), "status_500"),
        (respond(b"", 401), "status_401"),
        (b"hello\r\n\r\n", "garbage"),
        (HANG, "timeout"),
    ],
)
async def test_bad_health(world: World, page: bytes, reason: str) -> None:
    report = await report_of(world, {"/health": page}, timeouts=QUICK if page is HANG else PATIENT)
    assert (report.ok, report.reason) == (False, reason)


async def test_a_server_without_health(world: World) -> None:
    assert (await report_of(world, {"/health": respond(b"", 404)})).ok


async def test_nobody_there(world: World) -> None:
    await world.start([], timeouts=PATIENT)
    reports = Listening(world, away=True).reports
    world.gateway.add_node(NodeSpec(url="http://127.0.0.1:1"))
    await world.until(lambda: bool(reports))
    assert (reports[0].ok, reports[0].reason) == (False, "refused")


async def test_a_node_whose_pages_hang_delays_no_other(world: World) -> None:
    async with ScriptedUpstream(GOOD) as stuck, ScriptedUpstream(GOOD) as good:
        stuck.pages = {"/health": HANG, "/v1/models": HANG, "/metrics": HANG}
        await world.start([NodeSpec(url=stuck.url), NodeSpec(url=good.url)], timeouts=PATIENT)
        await world.until(lambda: world.dispatcher.available() == 1)
        client = await world.client()
        models = await client.ask(path="/v1/models", method="GET")
        assert [model["id"] for model in models.json()["data"]] == ["m"]


async def test_a_probe_that_hung_does_not_hold_up_the_next(world: World) -> None:
    async with ScriptedUpstream(GOOD) as node:
        node.pages = {"/health": HANG}
        await world.start([], timeouts=QUICK)
        reports = Listening(world, away=True).reports
        spec = NodeSpec(url=node.url, id="n")
        world.gateway.add_node(spec)
        await world.until(lambda: len(reports) == 1 and not world.gateway._probes._running)
        assert reports[0].seconds > 0.05
        node.pages = {}
        world.gateway._probes.configure(PATIENT)
        world.gateway.driver.call(lambda now: [Probe(spec)])
        await world.until(lambda: len(reports) == 2)
        assert [report.ok for report in reports] == [False, True]


async def test_while_an_answer_comes_however_slowly_a_late_probe_takes_no_node_out(world: World) -> None:
    await world.open(stream(ROLE, *[event({"content": "x"})] * 99, DONE, gap_s=0.3))
    reports = Listening(world).reports
    node, client = world.nodes[0], await world.client()
    node.pages = {"/health": HANG}
    client.send(chat(stream=True))
    pool = world.gateway._targets.of(world.dispatcher.fleet.spec(0)).pool
    await world.until(lambda: pool.heard_at > 0)
    world.gateway._probes.configure(QUICK)
    for number in range(2):
        await world.until(lambda: not world.gateway._probes._running)
        world.gateway.driver.call(lambda now: [Probe(world.dispatcher.fleet.spec(0))])
        await world.until(lambda made=number: len(reports) > made)
    assert [(each.ok, each.flowing) for each in reports] == [(False, True)] * 2
    assert world.dispatcher.available() == 1


async def test_nothing_flows_from_a_node_that_stands_still(world: World) -> None:
    report = await report_of(world, {"/health": HANG}, timeouts=QUICK)
    assert not report.flowing
