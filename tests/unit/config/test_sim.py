"""Settings of the simulator: valid defaults, and what cannot be used in a line that names it."""

from pathlib import Path

import msgspec
import pytest

from pointsman.brain.policies.registry import build
from pointsman.config.compare import CompareConfig
from pointsman.config.flags import ConfigError, convert
from pointsman.config.sim import (
    RunConfig,
    SimConfig,
    built,
    check_journal,
    fleet_of,
    incidents_of,
    output_file,
)
from pointsman.sim.fleet import NodeKind
from pointsman.sim.incidents import Failure, Incidents, Slowdown


@pytest.mark.parametrize("tree", [RunConfig, CompareConfig])
def test_defaults_are_valid_by_their_own_rules(tree: type[SimConfig]) -> None:
    assert msgspec.convert(msgspec.to_builtins(tree()), tree) == tree()
    assert fleet_of(tree())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rate": -1.0}, "`rate` must be a number above 0"),
        ({"plain": 2.0}, "`plain` must be a number up to 1"),
        ({"seconds": 0.0}, "`seconds` must be a number above 0"),
        ({"node": [{"name": "a", "gpus": 3}]}, r"`node\[0\]\.gpus` is not a setting; did you mean `gpu`"),
        ({"node": [{"name": "a", "speed": 0.0}]}, r"`node\[0\]\.speed` must be a number above 0"),
        ({"policy": "x"}, "`policy` is not a setting; did you mean `policies`"),
    ],
)
def test_what_cannot_be_is_refused_by_key(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        convert(wrong, CompareConfig, "sim.toml")


def test_nodes_of_the_file_replace_the_preset() -> None:
    config = SimConfig(fleet="nope", node=(NodeKind(name="a", count=2),))
    assert [node.name for node in fleet_of(config)] == ["a-1", "a-2"]


def test_an_unknown_preset_or_gpu_is_told_with_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"`fleet`: no preset named 'nope'; there are: qwen72b-a100"):
        fleet_of(SimConfig(fleet="nope"))
    with pytest.raises(ConfigError, match=r"`node`: no gpu 'G': give a TOML file or one of A100-80G"):
        fleet_of(SimConfig(node=(NodeKind(name="a", gpu="G"),)))


@pytest.mark.parametrize(
    ("incidents", "said"),
    [
        ([("fast", 1.0, 2.0)], r"`failure\[0\]\.node`: no node named 'fast'; there are: fast-1"),
        ([("fast-1", 1.0, 1.0)], r"`failure\[0\]\.ends_s`: 1 is not after 1"),
        (
            [("fast-1", 5.0, 9.0), ("fast-2", 0.0, None), ("fast-1", 1.0, None)],
            r"`failure\[0\]\.begins_s`: 5 is before",
        ),
    ],
)
def test_what_cannot_happen_to_a_node_is_refused(incidents: list[tuple[str, float, float | None]], said: str) -> None:
    config = SimConfig(failure=tuple(Failure(node=node, begins_s=a, ends_s=b) for node, a, b in incidents))
    with pytest.raises(ConfigError, match=said):
        incidents_of(config, fleet_of(config))


def test_what_happens_to_one_node_may_follow_and_kinds_may_meet() -> None:
    slowdown = (Slowdown(node="fast-1", factor=2.0, begins_s=1.0, ends_s=5.0),)
    failures = tuple(Failure(node="fast-1", begins_s=a, ends_s=a + 1.0) for a in (4.0, 2.0, 3.0))
    config = SimConfig(slowdown=slowdown, failure=failures)
    assert incidents_of(config, fleet_of(config)) == Incidents(slowdown, failures, ())


def test_a_policy_gets_its_parameters() -> None:
    config = SimConfig(parameters={"jffc": {"variant": "seed"}})
    assert built(config, "jffc", "policy") != built(SimConfig(), "jffc", "policy")
    with pytest.raises(ConfigError, match=r"`policies`: no policy named 'jfc'; did you mean 'jffc'"):
        built(config, "jfc", "policies")
    with pytest.raises(ConfigError, match="has no parameter 'nope'"):
        built(SimConfig(parameters={"jffc": {"nope": 1}}), "jffc", "policy")


def test_a_name_may_be_that_of_a_variant() -> None:
    config = SimConfig(parameters={"llm-d, gated": {"policy": "gated", "within": "llmd_default", "decode_cap": 8}})
    policy = built(config, "llm-d, gated", "policies")
    assert policy == build("gated", {"within": "llmd_default", "decode_cap": 8})
    with pytest.raises(ConfigError, match="`policies`: no policy named 'nope'"):
        built(SimConfig(parameters={"mine": {"policy": "nope"}}), "mine", "policies")


def test_parameters_of_nobody_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`parameters.jfc`: no such policy; did you mean 'jffc'\? a variant's table"):
        built(SimConfig(parameters={"jfc": {"w_load": 1.0}}), "random", "policies")


def test_a_journal_is_of_one_gateway() -> None:
    check_journal(RunConfig(journal="j"))
    with pytest.raises(ConfigError, match="`journal`: it holds the calls of one gateway"):
        check_journal(RunConfig(journal="j", gateways=2))


def test_a_fleet_can_have_another_size() -> None:
    assert len(fleet_of(SimConfig(fleet="mixed", nodes=16))) == 16
    with pytest.raises(ConfigError, match="`nodes`: 2 nodes are too few"):
        fleet_of(SimConfig(fleet="mixed", nodes=2))


def test_a_file_is_made_empty_or_explained(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_text("before")
    output_file(str(path), "journal").close()
    assert path.read_bytes() == b""
    with pytest.raises(ConfigError, match=r"`journal`: .*No such file"):
        output_file(str(tmp_path / "no" / "j"), "journal")
