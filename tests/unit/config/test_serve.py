from pathlib import Path
from typing import Any

import pytest

from pointsman.brain.model.request import Request
from pointsman.config import serve
from pointsman.config.flags import ConfigError, convert
from pointsman.config.serve import ServeConfig


def config(**given: Any) -> ServeConfig:
    return convert(given, ServeConfig, "test")


def test_nodes_of_the_file_and_of_the_command_line_are_joined() -> None:
    nodes = serve.all_nodes(config(nodes=[{"url": "http://a", "id": "x"}], node=["http://b:8000/"]))
    assert [node.name for node in nodes] == ["x", "http://b:8000"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"node": ["a:8000"]}, "nodes: "),
        ({"node": ["http://a", "http://a"]}, "more than once"),
    ],
)
def test_nodes_that_cannot_be_used_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        serve.all_nodes(config(**given))


def test_models_and_routes_have_policies_of_their_own_with_the_parameters_given() -> None:
    table = serve.policy_table(
        config(
            policy="round_robin",
            policies={"jffc": {"w_load": 0.4}},
            models={"m": {"policy": "jffc"}},
            routes={"/x": {"pool": "p", "policy": "two_choices"}, "/y": {"pool": "p"}},
        )
    )
    assert {scope: policy.name for scope, policy in table.scopes().items()} == {
        "default": "round_robin",
        "model:m": "jffc",
        "route:/x": "two_choices",
    }
    assert getattr(table.of(Request(id="r", model="m")), "w_load", None) == 0.4


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"policy": "jfcc"}, "`policy`: .*did you mean 'jffc'"),
        ({"policies": {"jffc": {"w_lod": 1}}}, "`policies.jffc`: .*it has: "),
        ({"models": {"m": {"policy": "none"}}}, 'models."m".policy'),
        ({"routes": {"/x": {"pool": "p", "policy": "none"}}}, 'routes."/x".policy'),
    ],
)
def test_a_policy_that_does_not_exist_names_its_key(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        serve.policy_table(config(**given))


@pytest.mark.parametrize(
    ("text", "expected"), [("127.0.0.1:80", ("127.0.0.1", 80)), (":80", ("0.0.0.0", 80)), ("[::1]:80", ("::1", 80))]
)
def test_an_address_is_host_and_port(text: str, expected: tuple[str, int]) -> None:
    assert serve.address(text, "listen") == expected


@pytest.mark.parametrize("text", ["", "localhost", "localhost:", "localhost:http", "localhost:65536"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"`listen`: .* is not HOST:PORT"):
        serve.address(text, "listen")


def test_keys_come_from_file_and_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("s3cret\n")
    monkeypatch.setenv(serve.API_KEYS_VARIABLE, "b, c,")
    monkeypatch.setenv(serve.NODE_KEY_VARIABLE, "from-environment")
    settings = serve.gateway_settings(config(api_keys=["a"], node_key_file=str(secret)))
    assert settings.api_keys == ("a", "b", "c")
    assert settings.node_key == "s3cret"
    assert serve.gateway_settings(config()).node_key == "from-environment"


def test_files_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "none" / "file")
    with pytest.raises(ConfigError, match="cannot be read"):
        serve.gateway_settings(config(node_key_file=nowhere))
    with pytest.raises(ConfigError, match="`journal`"):
        serve.open_journal(nowhere)


def test_a_route_begins_with_a_slash() -> None:
    with pytest.raises(ConfigError, match="must begin with a slash"):
        serve.gateway_settings(config(routes={"x": {"pool": "p"}}))


def test_a_journal_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for line in (b"1\n", b"2\n"):
        with serve.open_journal(str(path)) as journal:
            journal.write(line)
    assert path.read_bytes() == b"1\n2\n"
