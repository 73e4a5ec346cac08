"""The words for what msgspec finds, over the settings people really write."""

from typing import Any

import msgspec
import pytest

from pointsman.config.explain import explain
from pointsman.config.serve import ServeConfig
from pointsman.config.story import ExplainConfig


def test_how_many_values_a_list_takes() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"id": ["a", "b"]}, ExplainConfig)
    assert explain(str(caught.value), ExplainConfig, "the line") == "the line: `id` takes no more than 1"


def explained(raw: dict[str, Any]) -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(raw, ServeConfig)
    return explain(str(caught.value), ServeConfig, "the file")


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"timeouts": {"connect_s": 0}}, "`timeouts.connect_s` must be a number above 0"),
        (
            {"nodes": [{"url": "http://a", "kv_events": "a:5557"}]},
            "`nodes[0].kv_events` has not the form that it needs: where its KV events come from, such as "
            "tcp://10.0.0.5:5557; `reported` needs it",
        ),
        ({"brain": {"retry_share": 2}}, "`brain.retry_share` must be a number up to 1"),
        ({"limits": {"headers": "many"}}, "`limits.headers` must be a whole number, not text"),
        ({"nodes": [{}]}, "`nodes[0].url` is missing"),
        ({"nodes": [{"url": "http://h", "slots": 0}]}, "`nodes[0].slots` must be a whole number of at least 1"),
        (
            {"nodes": [{"url": "http://h", "engine": "vlm"}]},
            "`nodes[0].engine` cannot be 'vlm'; allowed are: openai, plain, sglang, vllm",
        ),
        ({"node": [{"url": "http://h"}]}, "`node[0]` must be text, not a table; did you mean `[[nodes]]`?"),
        ({"node": "http://h"}, "`node` must be a list, not text"),
        ({"routes": {"/x": {"pool": 1}}}, "`routes[...].pool` must be text, not a whole number"),
    ],
)
def test_what_is_wrong(raw: dict[str, Any], told: str) -> None:
    assert explained(raw) == f"the file: {told}"


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ({"timeouts": {"queue_timeout_s": 60}}, "did you mean `brain.queue_timeout_s`?"),
        ({"brain": {"connect_s": 1}}, "did you mean `timeouts.connect_s`?"),
        ({"window": 3}, "did you mean `brain.window`?"),
        ({"brain": {"journal": "x"}}, "did you mean `journal`?"),
        ({"brain": {"windows": 3}}, "did you mean `window`?"),
        ({"nodes": [{"url": "http://h", "model": ["m"]}]}, "did you mean `models`?"),
    ],
)
def test_where_a_key_belongs(raw: dict[str, Any], hint: str) -> None:
    text = explained(raw)
    assert f"is not a setting; {hint} allowed here: " in text


def test_a_key_like_no_other_is_told_with_those_there_are() -> None:
    assert "is not a setting; allowed here: body_bytes, head_bytes" in explained({"limits": {"zzz": 1}})


@pytest.mark.parametrize("typo", ["tenant", "zzz"])
def test_what_is_made_of_other_settings_is_not_offered(typo: str) -> None:
    assert "tenants" not in explained({"brain": {typo: []}})
