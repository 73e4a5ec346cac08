"""A configuration changed under a running gateway: applied whole or not at all, and no stream is dropped."""

import asyncio
import logging
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.policies.registry import build
from pointsman.clock import WallClock
from pointsman.config.serve import ServeConfig, policy_table
from pointsman.config.source import Source
from pointsman.gateway.app import Gateway
from pointsman.reload import Configured, Plan, Reload

from .conftest import TLS, Client, World, chat, client_tls
from .scripted_upstream import ROLE, ScriptedUpstream, always, event, respond, standing
from .test_process import PATIENCE_S, Process

OK = always(respond(b'{"choices":[]}'))
EVENTS = (ROLE, *[event({"content": "x"})] * 40, event({}, "stop"))


class Site:
    """A gateway that lives by a file."""

    def __init__(self, world: World, path: Path) -> None:
        self.world = world
        self.path = path
        self.told: list[bool] = []

    async def start(self, text: str) -> None:
        self.write(text)
        source = Source(ServeConfig, str(self.path), {})
        plan = Plan.of(source.read())
        clock = WallClock()
        self.dispatcher = Dispatcher(plan.config.brain, policy_table(plan.config), (), clock.now())
        self.world.dispatcher = self.dispatcher
        self.gateway = self.world.gateway = Gateway(plan.gateway, self.dispatcher, clock)
        await self.gateway.start(plan.nodes.values())
        self.world._stack.push_async_callback(self.world._stop)
        self.reload = Reload(source, plan, Configured(plan, self.gateway, self.dispatcher).apply, self.told.append)

    def write(self, text: str) -> None:
        self.path.write_text('listen = "127.0.0.1:0"\ntimeouts = {lame_duck_s = 0}\n' + text)

    async def apply(self, text: str) -> bool:
        self.write(text)
        return await self.reload.reload()

    def states(self) -> dict[str, str]:
        fleet = self.dispatcher.fleet
        return {name: str(fleet.states[row]) for name, row in sorted(fleet.row_of.items())}


@pytest.fixture
async def site(world: World, tmp_path: Path) -> Site:
    return Site(world, tmp_path / "pointsman.toml")


@pytest.fixture
async def nodes(world: World) -> list[ScriptedUpstream]:
    return [await world._stack.enter_async_context(ScriptedUpstream(OK)) for _ in range(3)]


def listed(*nodes: ScriptedUpstream, **more: Any) -> str:
    extra = "".join(f", {key} = {value!r}" for key, value in more.items())
    return "nodes = [" + ", ".join(f'{{url = "{node.url}"{extra}}}' for node in nodes) + "]\n"


async def test_nodes_come_go_and_weigh_otherwise_under_a_stream(site: Site, nodes: list[ScriptedUpstream]) -> None:
    first, second, third = nodes
    await site.start(listed(first) + "api_keys = ['old']")
    await site.world.until(lambda: site.dispatcher.available() == 1)
    go = asyncio.Event()
    first.script = standing(go, *EVENTS)
    client = await site.world.client()
    client.send(chat(stream=True), headers=("authorization: Bearer old",))
    await client.reader.readuntil(b'"x"')
    assert await site.apply(listed(second, third, weight=0.5) + "api_keys = ['new']\n[brain]\ntries = 1")
    assert site.states()[first.url] == "draining"
    await site.world.until(lambda: site.dispatcher.available() == 2)
    assert site.dispatcher.fleet.cap[site.dispatcher.fleet.row_of[second.url]] == 32
    other = await site.world.client()
    assert (await other.ask(chat(), headers=("authorization: Bearer old",))).status == 401
    assert (await other.ask(chat(), headers=("authorization: Bearer new",))).status == 200
    go.set()
    assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 39
    await site.world.until(lambda: site.states() == {second.url: "up", third.url: "up"})
    assert site.dispatcher.settings.tries == 1
    assert len(second.requests) + len(third.requests) == 1
    assert site.told == [True]
    await site.world.at_rest()


async def test_a_node_comes_back_while_it_is_still_leaving(site: Site, nodes: list[ScriptedUpstream]) -> None:
    first, second, _ = nodes
    await site.start(listed(first, second))
    await site.world.until(lambda: site.dispatcher.available() == 2)
    go = asyncio.Event()
    first.script = second.script = standing(go, *EVENTS)
    clients = [await site.world.client() for _ in range(2)]
    for client in clients:
        client.send(chat(stream=True))
        await client.reader.readuntil(b'"x"')
    assert await site.apply(listed(second))
    assert site.states()[first.url] == "draining"
    assert await site.apply(listed(second, first))
    assert site.states() == dict.fromkeys(sorted((first.url, second.url)), "up")
    go.set()
    for client in clients:
        assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 39


async def test_what_the_admin_port_changed_stays_unless_the_file_changes_it(
    site: Site, nodes: list[ScriptedUpstream]
) -> None:
    first, second, third = nodes
    await site.start(listed(first, second) + "policy = 'jffc'")
    await site.world.until(lambda: site.dispatcher.available() == 2)
    site.gateway.add_node(NodeSpec(url=third.url, id="mine"))
    driver, dispatcher = site.gateway.driver, site.dispatcher
    driver.call(lambda now: dispatcher.remove_node(second.url, now))
    driver.call(lambda now: dispatcher.drain(first.url, now))
    driver.call(lambda now: dispatcher.set_policy("default", build("jiq"), now))
    assert await site.apply(listed(first, second) + "policy = 'jffc'\napi_keys = ['k']")
    await site.world.until(lambda: site.states() == {first.url: "draining", "mine": "up"})
    assert dispatcher.policies.scopes()["default"].name == "jiq"
    assert await site.apply(listed(first, second, weight=2.0) + "policy = 'sed'\n[models.m]\npolicy = 'jffc'")
    assert {scope: policy.name for scope, policy in dispatcher.policies.scopes().items()} == {
        "default": "sed",
        "model:m": "jffc",
    }
    await site.world.until(lambda: site.states()[second.url] == "up")
    assert await site.apply("policy = 'sed'")
    await site.world.until(lambda: site.states() == {"mine": "up"})
    assert list(dispatcher.policies.scopes()) == ["default"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes = [", "pointsman.toml: not valid TOML"),
        ("lissen = 'x'", "pointsman.toml: `lissen` is not a setting; did you mean `listen`?"),
        ("policy = 'jfc'", "pointsman.toml: `policy`: no policy named 'jfc'; did you mean 'jffc'?"),
        ("[policies.jffc]\nw_load = -1", "`policies.jffc`: policy 'jffc': `w_load`: expected `float` >= 0.0"),
        ("allow_paths = ['x']", "must begin with a slash"),
        ("node_key_file = '/none'", "`node_key_file`: '/none' cannot be read"),
        (
            "[[nodes]]\nurl = 'http://a'\n[[nodes]]\nurl = 'http://a'",
            "pointsman.toml: nodes: 'http://a' is there more than",
        ),
    ],
)
async def test_a_bad_file_changes_nothing_and_says_why(
    site: Site,
    nodes: list[ScriptedUpstream],
    caplog: pytest.LogCaptureFixture,
    text: str,
    said: str,
) -> None:
    await site.start(listed(nodes[0]) + "api_keys = ['old']")
    await site.world.until(lambda: site.dispatcher.available() == 1)
    before = site.gateway.settings
    assert not await site.apply("api_keys = ['new']\n" + text)
    assert said in caplog.text
    assert site.told == [False]
    assert site.gateway.settings is before
    assert site.states() == {nodes[0].url: "up"}


async def test_more_nodes_than_fit_are_refused_beforehand(site: Site, nodes: list[ScriptedUpstream]) -> None:
    await site.start(listed(nodes[0]))
    site.dispatcher.fleet.capacity = 2
    assert not await site.apply(listed(*nodes))
    assert list(site.states()) == [nodes[0].url]
    assert await site.apply(listed(*nodes[:2]))
    assert await site.apply(listed(*nodes[:2], weight=2.0)), "who is there needs no further room"
    assert not await site.apply(listed(nodes[2], nodes[0])), "who leaves may still have requests"


async def test_what_needs_a_restart_is_named(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    secret = site.path.with_name("secret")
    secret.write_text("one")
    named = f"chain_secret_file = '{secret}'\n"
    caplog.set_level(logging.INFO)
    await site.start(named)
    secret.write_text("two")
    assert await site.apply(named + "admin_listen = ''\nlog_level = 'info'\napi_keys = ['k']\n[brain]\nseed = 3")
    assert "configuration reloaded; changed: api_keys\n" in caplog.text
    assert "needs a restart and stays as it was: admin_listen, brain.seed, chain_secret_file" in caplog.text
    assert site.gateway.settings.chain_secret == b"one"


async def test_reloading_nothing_changes_nothing(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await site.start("")
    assert await site.reload.reload()
    assert "configuration reloaded; changed: nothing\n" in caplog.text


async def test_who_has_no_file_is_told_that_there_is_nothing_to_read(caplog: pytest.LogCaptureFixture) -> None:
    source = Source(ServeConfig, None, {"listen": "127.0.0.1:0"})
    used: list[Plan] = []
    reload = Reload(source, Plan.of(source.read()), used.append, lambda _: None)
    assert await reload.reload()
    assert used, "other files, of certificates say, may have changed"
    assert "--config" not in caplog.text, "nobody asked"
    reload.ask()
    assert "started without --config: there is no file of settings to read again" in caplog.text


async def test_certificates_put_in_the_place_of_others_are_shown(site: Site) -> None:
    def install(name: str) -> None:
        for kind in ("pem", "key"):
            shutil.copy(TLS / f"{name}.{kind}", site.path.with_name(f"tls.{kind}"))

    async def shown() -> str:
        async with Client(site.gateway.port, client_tls()) as client:
            name: str = client.writer.get_extra_info("peercert")["subject"][0][0][1]
            return name

    install("one")
    files = {kind: site.path.with_name(f"tls.{kind}") for kind in ("pem", "key")}
    await site.start(f"tls_cert = '{files['pem']}'\ntls_key = '{files['key']}'\n")
    assert await shown() == "one"
    shutil.copy(TLS / "two.pem", files["pem"])
    assert not await site.reload.reload(), "half of a change does not fit together"
    assert await shown() == "one"
    install("two")
    assert await site.reload.reload()
    assert await shown() == "two"
    assert await site.apply("")
    assert await shown() == "two", "whether TLS is spoken needs a restart"


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[Process]:
    process = Process(tmp_path / "pointsman.toml")
    yield process
    if process.process.returncode is None:
        process.process.kill()
    await process.process.communicate()


async def asked(port: int, **headers: str) -> int:
    async with Client(port) as client:
        return (await client.ask(chat(), headers=tuple(f"{key}: {value}" for key, value in headers.items()))).status


async def test_the_process_reloads_by_signal_and_by_itself(process: Process, nodes: list[ScriptedUpstream]) -> None:
    ports = 'listen = "127.0.0.1:0"\nadmin_listen = "127.0.0.1:0"\ntimeouts = {lame_duck_s = 0}\n'

    async def until(key: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while await asked(process.port, authorization=f"Bearer {key}") != 200:
                await asyncio.sleep(0.02)

    async def reloads(result: str) -> float:
        async with Client(process.admin) as client:
            client.writer.write(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            page = (await client.reader.read()).decode()
        return float(page.partition(f'pointsman_config_reloads_total{{result="{result}"}} ')[2].split()[0])

    path = process.config
    path.write_text(ports + listed(nodes[0]) + "api_keys = ['a']\nwatch = false")  # so that only a signal can tell it
    await process.start()
    await process.until_healthy()
    go = asyncio.Event()
    nodes[0].script = standing(go, *EVENTS)
    async with Client(process.port) as client:
        client.send(chat(stream=True), headers=("authorization: Bearer a",))
        await client.reader.readuntil(b'"x"')
        path.write_text(ports + listed(nodes[1]) + "api_keys = ['b']")
        process.process.send_signal(signal.SIGHUP)
        await until("b")
        assert await asked(process.port, authorization="Bearer a") == 401
        go.set()
        assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 39
    path.write_text(ports + "nodes = [")
    process.process.send_signal(signal.SIGUSR2)
    process.process.send_signal(signal.SIGHUP)
    async with asyncio.timeout(PATIENCE_S):
        while not await reloads("failed"):
            await asyncio.sleep(0.02)
    assert await asked(process.port, authorization="Bearer b") == 200
    replacing = path.with_name("new")
    replacing.write_text(ports + listed(nodes[2]) + "api_keys = ['c']")
    replacing.replace(path)
    await until("c")
    assert (await reloads("ok"), await reloads("failed")) == (2.0, 1.0)
    process.process.send_signal(signal.SIGTERM)
    await process.ended()
    words = await process.words()
    assert "Traceback" not in words
    assert f"the configuration stays as it was: {path}: not valid TOML" in words
    assert "SIGUSR2 replaces workers, and there are none" in words
