"""Settings of the load: who asks what and how fast, and what does not go together."""

from pathlib import Path

import pytest

from pointsman.config.flags import ConfigError, convert
from pointsman.config.sim import SimConfig
from pointsman.config.sim_load import check_pace, check_trace_settings, kinds_of, law_of, sim_trace
from pointsman.workload.presets import WORKLOADS


def test_without_settings_an_assistant_is_asked() -> None:
    check_pace(SimConfig())
    check_trace_settings(SimConfig())
    assert kinds_of(SimConfig()) == WORKLOADS["assistant"]
    assert law_of(SimConfig()) is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rate": 1.0, "load": 0.5}, "`load`: how fast requests come is said by `rate` already"),
        ({"rate_factor": 2.0}, "`rate_factor`: there is no trace"),
        ({"trace": "t", "load": 0.5}, "`load`: a trace has its own pace"),
    ],
)
def test_the_pace_is_said_once_and_where_it_means_something(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_pace(SimConfig(**settings))  # type: ignore[arg-type]


def test_a_broken_trace_is_told_by_row_and_column(tmp_path: Path) -> None:
    assert sim_trace(SimConfig()) is None
    path = tmp_path / "t.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,many,10\n")
    with pytest.raises(ConfigError, match=r"`trace`: t\.csv, line 2: ContextTokens is 'many'"):
        sim_trace(SimConfig(trace=str(path)))
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ConfigError, match="begins no known format"):
        sim_trace(SimConfig(trace=str(path)))


def test_a_part_of_the_trace_can_be_taken_and_repeated(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"timestamp": {k}, "input_length": {k + 1}, "output_length": 1}}\n' for k in range(8)))

    def sizes(**settings: object) -> list[int]:
        trace = sim_trace(SimConfig(trace=str(path), **settings))  # type: ignore[arg-type]
        assert trace is not None
        return [row.prompt_tokens for row in trace.rows]

    assert sizes(part="first_half") + sizes(part="second_half") == sizes() == list(range(1, 9))
    assert sizes(part="second_half", from_request=1, requests_count=2, repeat=2) == [6, 7, 6, 7]
    with pytest.raises(ConfigError, match=r"`trace`: t.jsonl: nothing is left of its 4 requests from number 4 on"):
        sizes(part="first_half", from_request=4)


def test_without_a_trace_nothing_can_be_said_of_it() -> None:
    check_trace_settings(SimConfig(trace="t", repeat=2))
    with pytest.raises(ConfigError, match="`repeat`: there is no trace that it could concern"):
        check_trace_settings(SimConfig(repeat=2))


def test_clients_of_the_file_replace_the_preset() -> None:
    table = {"workload": "nope", "clients": [{"name": "a", "output": {"median": 9}}, {"name": "b", "share": 3}]}
    kinds = kinds_of(convert(table, SimConfig, "sim.toml"))
    assert kinds is not None
    assert [(kind.name, kind.share, kind.output.median) for kind in kinds] == [("a", 1.0, 9.0), ("b", 3.0, 130.0)]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"workload": "chta"}, "`workload`: no preset named 'chta'; there are: assistant, chat, agents"),
        ({"clients": [{"name": "a"}, {"name": "a"}]}, r"`clients\[1\].name`: 'a' is named twice"),
        ({"arrivals": "trace"}, "`arrivals`: there is no trace to arrive as"),
        ({"trace": "t", "workload": "chat"}, "`workload`: the trace says what is asked"),
        ({"trace": "t", "arrivals": "gamma"}, "`arrivals`: the trace says what is asked"),
    ],
)
def test_clients_that_cannot_be_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        kinds_of(convert(settings, SimConfig, "sim.toml"))


@pytest.mark.parametrize(
    ("clients", "said"),
    [
        ({}, r"`clients\[0\]\.name` is missing"),
        ({"name": "a", "turn_mean": 2.0}, r"`clients\[0\]\.turn_mean` is not a setting; did you mean `turns_mean`"),
        ({"name": "a", "share": -1.0}, r"`clients\[0\]\.share` must be a number above 0"),
        ({"name": "a", "output": {"median": float("nan")}}, r"`clients\[0\]\.output\.median` must be a finite number"),
        (
            {"name": "a", "arrivals": {"law": "pareto"}},
            r"`clients\[0\]\.arrivals\.law` cannot be 'pareto'; allowed are: gamma",
        ),
        ({"name": "a", "arrivals": {"levels": [0.0, 0.0]}}, "one of the rates must be above 0"),
        ({"name": "a", "tenants": 4096, "adapters": 4096}, "too many system prompts"),
    ],
)
def test_what_no_client_can_be_is_refused_by_key(clients: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        convert({"clients": [clients]}, SimConfig, "sim.toml")


def test_a_law_replaces_those_of_the_clients_and_a_trace_lends_its_gaps() -> None:
    law = law_of(SimConfig(arrivals="weibull"))
    assert law is not None
    assert law.law == "weibull"
    lent = SimConfig(arrivals="trace", trace="t", workload="chat", load=0.5)
    assert kinds_of(lent) == WORKLOADS["chat"]
    assert law_of(lent) is None
    check_pace(lent)
