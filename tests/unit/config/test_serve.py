"""Settings that cannot be used stop the start, and say which file, which key and what is allowed."""

import argparse
import re
from pathlib import Path
from typing import Any

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.request import Request
from pointsman.config import serve
from pointsman.config.flags import ConfigError, add_flags, load
from pointsman.config.serve import (
    API_KEYS_VARIABLE,
    NODE_KEY_VARIABLE,
    ServeConfig,
    address,
    admin_hosts,
    all_nodes,
    gateway_settings,
    open_journal,
    open_recording,
    policy_table,
)
from pointsman.gateway.settings import Timeouts

FULL = """
listen = "[::1]:0"
policy = "jffc"
api_keys = ["a"]
allow_paths = ["/v1/guided"]
[[nodes]]
url = "http://one:8000"
slots = 4
[[nodes]]
url = "http://two:8000"
id = "two"
engine = "plain"
models = ["vision"]
[policies.jffc]
w_load = 0.9
[models."big"]
policy = "round_robin"
[routes."/classify"]
pool = "vision"
policy = "least_requests"
[timeouts]
connect_s = 1
[brain]
queue_limit = 7
"""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(API_KEYS_VARIABLE, raising=False)
    monkeypatch.delenv(NODE_KEY_VARIABLE, raising=False)


def config_of(text: str, tmp_path: Path, **flags: object) -> ServeConfig:
    path = tmp_path / "pointsman.toml"
    path.write_text(text)
    return load(ServeConfig, str(path), flags)


def test_full_file(tmp_path: Path) -> None:
    config = config_of(FULL, tmp_path, node=["http://three/"])
    assert [node.name for node in all_nodes(config)] == ["http://one:8000", "two", "http://three"]
    settings = gateway_settings(config)
    assert (settings.host, settings.port, settings.api_keys) == ("::1", 0, ("a",))
    assert settings.timeouts.connect_s == 1.0
    assert settings.routes["/classify"].pool == "vision"
    assert config.brain.queue_limit == 7
    table = policy_table(config)
    assert table.of(Request(id="", model="x")).w_load == 0.9  # type: ignore[attr-defined]
    assert table.of(Request(id="", model="big")).name == "round_robin"
    assert table.of(Request(id="", model="vision", route="/classify")).name == "least_requests"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lissen = 'x'", "did you mean `listen`"),
        ("[timeouts]\nconnect = 1", "timeouts.connect"),
        ("[[nodes]]\nurl = 'http://a'\nslots = 0", "nodes"),
        ("[brain]\nqueue_limit = 'many'", "brain.queue_limit"),
        ("[routes.'/x']\npolicy = ''", "pool"),
        ("log_level = 'loud'", "log_level"),
        ("[timeouts]\ntotal_s = inf", "`timeouts.total_s` must be a finite number"),
        (
            "[[nodes]]\nurl = 'http://a'\n[[nodes]]\nurl = 'http://b'\nweight = nan",
            "`nodes[1].weight` must be a finite",
        ),
        ("[policies.jffc]\nw_load = -inf", "`policies.jffc.w_load` must be a finite number"),
        ("[brain]\nrecovery_sample_s = 1e-9", "`brain.recovery_sample_s` must be a number of at least 0.01"),
        ("[limits]\nstream_buffer_bytes = 4294967296", "`limits.stream_buffer_bytes` must be a whole number up to"),
        ("[brain]\nseed = 9223372036854775808", "`brain.seed` must be a finite number, and one of 64 bits"),
    ],
)
def test_wrong_keys_and_values(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        config_of(text, tmp_path)
    assert "pointsman.toml" in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("policy = 'jfc'", "did you mean 'jffc'"),
        ("[policies.jffc]\nw = 1", "no parameter 'w'"),
        ("[policies.jffc]\nw_load = -1", "`policies.jffc`: policy 'jffc': `w_load`: expected `float` >= 0.0"),
        ("[policies.nope]", "no policy named 'nope'"),
        ("[models.m]\npolicy = 'nope'", 'models."m".policy'),
        ("[routes.'/x']\npool = 'p'\npolicy = 'nope'", 'routes."/x".policy'),
    ],
)
def test_wrong_policies(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        policy_table(config_of(text, tmp_path))


def test_wrong_nodes() -> None:
    with pytest.raises(ConfigError, match="not an http"):
        all_nodes(ServeConfig(node=("localhost:8000",)))
    with pytest.raises(ConfigError, match="more than once"):
        all_nodes(ServeConfig(node=("http://a", "http://a")))


def test_wrong_paths_and_addresses() -> None:
    for text in ("8080", "localhost", "localhost:http", "h:70000"):
        with pytest.raises(ConfigError, match="HOST:PORT"):
            address(text, "listen")
    assert address(":8080", "listen") == ("0.0.0.0", 8080)
    with pytest.raises(ConfigError, match="slash"):
        gateway_settings(ServeConfig(allow_paths=("x",)))
    with pytest.raises(ConfigError, match=r"lease_s.*7200"):
        gateway_settings(ServeConfig(timeouts=Timeouts(total_s=10_000.0)))
    with pytest.raises(ConfigError, match=r"trusted_peers.*10\.0\.0\.1/8"):
        gateway_settings(ServeConfig(trusted_peers=("10.0.0.1/8",)))


def test_names_of_the_admin_port() -> None:
    hosts = admin_hosts(ServeConfig(admin_listen="10.0.0.1:9080", admin_hosts=("ops.example",)))
    assert [hosts.include(host) for host in ("10.0.0.1:9080", "ops.example", "other.example")] == [True, True, False]
    assert admin_hosts(ServeConfig(admin_listen="")).include("localhost")
    for name in ("http://ops.example", "ops.example:9080", "", "*"):
        with pytest.raises(ConfigError, match="admin_hosts"):
            admin_hosts(ServeConfig(admin_hosts=(name,)))


def test_serve_has_no_more_flags_than_people_can_read() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, ServeConfig)
    assert len(parser.format_usage().split("[--")) - 1 <= 25


def test_keys_from_files_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEYS_VARIABLE, "k1, k2")
    monkeypatch.setenv(NODE_KEY_VARIABLE, "inner")
    settings = gateway_settings(ServeConfig(api_keys=("k0",)))
    assert settings.api_keys == ("k0", "k1", "k2")
    assert settings.node_key == "inner"
    secret = tmp_path / "key"
    secret.write_text("from-file\n")
    assert gateway_settings(ServeConfig(node_key_file=str(secret))).node_key == "from-file"
    with pytest.raises(ConfigError, match="cannot be read"):
        gateway_settings(ServeConfig(node_key_file=str(tmp_path / "none")))


@pytest.mark.parametrize("port", ["\u00b2", "\u0663", "+1", "1_0", "9" * 5000])
def test_a_port_is_written_in_digits(port: str) -> None:
    with pytest.raises(ConfigError, match="HOST:PORT"):
        address(f"h:{port}", "listen")


@pytest.mark.parametrize("path", ["/dev", "/dev/none/x", "a\0b"])
def test_files_that_cannot_be(path: str) -> None:
    with pytest.raises(ConfigError, match="journal"):
        open_journal(path)
    with pytest.raises(ConfigError, match="recording"):
        open_recording(path, 2)
    with pytest.raises(ConfigError, match="cannot be read"):
        gateway_settings(ServeConfig(chain_secret_file=path))


@pytest.mark.parametrize(("left", "then"), [(b"", b""), (b"whole\n", b"whole\n"), (b"ha", b"ha\n")])
def test_a_journal_goes_on_on_a_fresh_line(tmp_path: Path, left: bytes, then: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(left)
    with open_journal(str(path)) as journal:
        journal.write(b"new\n")
    assert path.read_bytes() == then + b"new\n"


def test_a_key_for_the_nodes_fits_a_header() -> None:
    with pytest.raises(ConfigError, match="node_key"):
        gateway_settings(ServeConfig(node_key="k\nx: y"))


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ("block_mib = 128", "nodes: node 'http://a'.*`profile` must name its model"),
        ('block_mib = 8\nprofile = "Llama-3-8B"', "block_mib.*16"),
        ('block_mib = 2048\nprofile = "Llama-3-8B"', "block_mib.*1024"),
    ],
)
def test_a_block_in_mib_that_cannot_be_is_told(tmp_path: Path, node: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        all_nodes(config_of(f'[[nodes]]\nurl = "http://a"\n{node}\n', tmp_path))


REPORTS: dict[str, Any] = {"url": "http://a", "residency": "reported", "kv_events": "tcp://a:5557"}


@pytest.mark.parametrize(
    ("node", "workers", "why"),
    [
        ({"kv_events": ""}, 1, "give the address of its KV events as `kv_events`"),
        ({"residency": "believed"}, 1, 'say `residency = "reported"` to go by them'),
        ({"kv_events": "@tcp://a:5557"}, 2, "several workers cannot all bind"),
        ({"kv_events": "tcp://a"}, 1, "tcp://a must end in a port from 1 to 65535"),
        ({"kv_events": "tcp://a:99999"}, 1, "must end in a port"),
        ({"kv_events": "@tcp://*:*"}, 1, "must end in a port"),
        ({"kv_replay": "tcp://a:0"}, 1, "tcp://a:0 must end in a port"),
        ({}, 1, r"needs pyzmq: pip install 'pointsman\[kv-events\]'"),
    ],
)
def test_what_keeps_a_node_from_reporting(
    node: dict[str, Any], workers: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=why):
        all_nodes(ServeConfig(nodes=(NodeSpec(**REPORTS | node),), workers=workers))


@pytest.mark.parametrize(
    ("where", "rank", "url"), [("@tcp://*:5557", 1, "http://a"), ("tcp://a:5557", None, "http://b")]
)
def test_two_nodes_do_not_publish_at_one_address(
    where: str, rank: int | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda _: object())
    one = NodeSpec(**REPORTS | {"kv_events": where, "rank": 0})
    other = NodeSpec(**REPORTS | {"kv_events": where, "rank": rank, "url": url})
    with pytest.raises(ConfigError, match="cannot both publish at"):
        all_nodes(ServeConfig(nodes=(one, other)))


def test_ranks_may_publish_at_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda _: object())
    nodes = tuple(NodeSpec(**REPORTS | {"rank": rank}) for rank in (0, 1))
    assert all_nodes(ServeConfig(nodes=nodes)) == nodes


def test_a_node_that_can_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda _: object())
    nodes = (NodeSpec(**REPORTS | {"kv_events": "@tcp://*:5557"}), NodeSpec(url="http://b"))
    assert all_nodes(ServeConfig(nodes=nodes)) == nodes
