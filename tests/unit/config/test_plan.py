"""Settings of `pointsman plan chains`: from kinds of servers to servers."""

import tomllib
from typing import Any

import pytest

from pointsman.chains.model import Service
from pointsman.config.flags import ConfigError, convert
from pointsman.config.plan import EXAMPLE, ChainsConfig, rate_of, rules_of, servers_of, service_of

SERVICE = {"blocks": 4, "block_gb": 1.5, "job_gb": 0.1}
TIMED = {"name": "a", "memory_gb": 8, "block_s": 0.2, "communication_s": 1.0}


def config(server: dict[str, Any], **service: Any) -> ChainsConfig:
    return convert({"service": SERVICE | service, "server": [server]}, ChainsConfig, "f.toml")


def test_times_are_taken_as_given() -> None:
    (server,) = servers_of(config(TIMED))
    assert (server.name, server.memory_gb, server.block_s, server.communication_s) == ("a", 8.0, 0.2, 1.0)
    assert service_of(config(TIMED)) == Service(4, 1.5, 0.1)


def test_speeds_become_times_of_a_mean_job() -> None:
    kind = {"name": "a", "memory_gb": 8, "tflops": 100, "bandwidth_gb_s": 1000, "round_trip_s": 0.012}
    (server,) = servers_of(config(kind, input_tokens=2000, output_tokens=31, gflop_per_token=5))
    assert server.block_s == pytest.approx(0.001 + 2000 * 5e9 / 100e12 + 30 * 1.5 / 1000)
    assert server.communication_s == pytest.approx(31 * (0.012 + 0.018))


def test_servers_of_a_kind_are_numbered() -> None:
    assert [server.name for server in servers_of(config(TIMED | {"count": 2}))] == ["a-1", "a-2"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"block_s": None}, r"`server\[0\]`: give either `block_s` or both"),
        ({"block_s": None, "tflops": 5}, r"`server\[0\]`: give either `block_s` or both"),
        ({"tflops": 5}, r"`server\[0\].block_s`: `tflops` and `bandwidth_gb_s` say that already"),
        ({"communication_s": None}, r"`server\[0\]`: give either `communication_s` or `round_trip_s`"),
        ({"round_trip_s": 1}, r"`server\[0\]`: give either `communication_s` or `round_trip_s`"),
    ],
)
def test_each_time_is_said_once(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        servers_of(config(TIMED | change))


def test_what_is_missing_is_named() -> None:
    for read, said in ((service_of, "`service`: desc"), (servers_of, "`server`: name"), (rate_of, "`rate`: say")):
        with pytest.raises(ConfigError, match=said):
            read(ChainsConfig())


def test_two_of_one_name_are_refused() -> None:
    raw = {"service": SERVICE, "server": [TIMED, TIMED]}
    with pytest.raises(ConfigError, match="`server`: two are named 'a'"):
        servers_of(convert(raw, ChainsConfig, "f.toml"))


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match="`policies`: no policy named 'nope'"):
        rules_of(ChainsConfig(policies=("nope",)))


@pytest.mark.parametrize(("key", "value"), [("memory_gb", 0), ("memory_gb", -1), ("block_s", 0), ("count", 0)])
def test_numbers_that_mean_nothing_are_refused(key: str, value: float) -> None:
    with pytest.raises(ConfigError, match=key):
        config(TIMED | {key: value})


def test_the_example_of_the_help_can_be_used() -> None:
    shown = convert(tomllib.loads(EXAMPLE), ChainsConfig, "--help")
    assert len(servers_of(shown)) == 4
    assert service_of(shown).blocks == 80
    assert rate_of(shown) == 0.5
