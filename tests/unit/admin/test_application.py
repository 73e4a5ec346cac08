from typing import Any
from urllib.parse import quote

import pytest


async def error_of(answer: Any) -> tuple[int, str, str]:
    error = (await answer.json())["error"]
    return answer.status, error["code"], error["message"]


async def test_health_and_readiness(client: Any) -> None:
    assert await (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/readyz")).status == 200
    for node in ("http://a", "b"):
        await client.patch(f"/nodes/{quote(node, safe='')}", json={"drain": True})
    assert (await error_of(await client.get("/readyz")))[:2] == (503, "not_ready")
    assert (await client.get("/healthz")).status == 200


async def test_nodes_are_listed_added_changed_and_removed(client: Any) -> None:
    assert [node["id"] for node in await (await client.get("/nodes")).json()] == ["http://a", "b"]
    added = await client.post("/nodes", json={"url": "http://c", "id": "c"})
    assert (added.status, (await added.json())["state"]) == (201, "joining")
    changed = await client.patch("/nodes/c", json={"weight": 0.5})
    assert (await changed.json())["cap"] == 32
    removed = await client.delete("/nodes/c")
    assert (removed.status, await removed.read()) == (204, b"")
    assert (await client.get("/nodes/c")).status == 404


@pytest.mark.parametrize("path", ["/nodes/http://a", "/nodes/http%3A%2F%2Fa"])
async def test_an_id_that_is_an_address_may_stand_in_the_path(client: Any, path: str) -> None:
    assert (await (await client.get(path)).json())["id"] == "http://a"


async def test_a_taken_id_and_a_bad_node_are_refused(client: Any) -> None:
    assert "already" in (await error_of(await client.post("/nodes", json={"url": "http://a"})))[2]
    status, _, message = await error_of(await client.post("/nodes", json={"url": "http://c", "slots": 0}))
    assert (status, "$.slots" in message) == (400, True)
    assert (await error_of(await client.post("/nodes", json={"uri": "x"})))[0] == 400
    status, _, message = await error_of(await client.patch("/nodes/b", json={"drained": True}))
    assert (status, message.partition("; ")[2]) == (400, "a body may have: drain, limit_s, weight")


async def test_the_body_must_say_that_it_is_json(client: Any) -> None:
    answer = await client.post("/nodes", data='{"url": "http://c"}', headers={"content-type": "text/plain"})
    assert (await error_of(answer))[:2] == (415, "not_json")


async def test_decisions_are_told_with_scores(client: Any) -> None:
    (decision,) = await (await client.get("/decisions?n=5&model=m")).json()
    assert decision["request_id"] == "r1"
    assert decision["node"] == "http://a"
    assert [candidate["node"] for candidate in decision["candidates"]] == ["http://a", "b"]
    (story,) = await (await client.get("/decisions/r1")).json()
    assert [chapter["event"] for chapter in story["chapters"]] == ["chosen", "sent"]
    assert story["chapters"][0]["decision"] == decision
    assert await (await client.get("/decisions?model=other")).json() == []
    assert (await error_of(await client.get("/decisions/r2")))[:2] == (404, "not_found")


@pytest.mark.parametrize("query", ["n=0", "n=many", "N=5"])
async def test_a_bad_query_is_refused(client: Any, query: str) -> None:
    assert (await error_of(await client.get(f"/decisions?{query}")))[:2] == (400, "invalid_request")


async def test_what_a_query_may_have_is_told(client: Any) -> None:
    assert (await error_of(await client.get("/decisions?limit=5")))[2].endswith("; a query may have: n, model")


async def test_the_policy_is_changed_while_running(client: Any, scene: Any) -> None:
    change = {"policy": "jffc", "parameters": {"w_load": 0.4}}
    (in_use,) = await (await client.put("/policy", json=change)).json()
    assert (in_use["policy"], in_use["parameters"]["w_load"]) == ("jffc", 0.4)
    policies = await (await client.get("/policy")).json()
    assert policies["in_use"] == [in_use]
    assert "round_robin" in [policy["name"] for policy in policies["available"]]
    assert scene.metrics.policy_changes == {("default", "jffc"): 1}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"policy": "jffcc"}, "did you mean 'jffc'"),
        ({"policy": "jffc", "parameters": {"load": 1}}, "it has: "),
        ({"policy": "jffc", "parameters": {"w_load": "much"}}, "w_load"),
        ({"policy": "jffc", "scope": "tenant:x"}, "allowed are 'default', 'model:NAME' and 'route:PATH'"),
        ({"policy": None}, "can be changed but not dropped"),
    ],
)
async def test_a_bad_policy_is_refused_with_what_is_allowed(client: Any, change: dict[str, Any], told: str) -> None:
    status, _, message = await error_of(await client.put("/policy", json=change))
    assert status == 400
    assert told in message


async def test_metrics_are_text(client: Any) -> None:
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE pointsman_requests_total counter" in await answer.text()


async def test_the_index_page_and_the_description_are_served(client: Any) -> None:
    assert "/decisions" in await (await client.get("/")).text()
    assert (await (await client.get("/openapi.json")).json())["openapi"] == "3.1.0"


async def test_unknown_paths_and_methods_are_errors_in_json(client: Any) -> None:
    assert (await error_of(await client.get("/nothing")))[:2] == (404, "not_found")
    assert (await error_of(await client.delete("/policy")))[:2] == (405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/", "/metrics", "/nodes", "/none"])
async def test_a_page_that_rebinds_its_name_gets_nothing(client: Any, path: str) -> None:
    answer = await client.get(path, headers={"host": "evil.example:9080"})
    assert (await error_of(answer))[:2] == (421, "wrong_host")
    assert "`admin_hosts`" in (await error_of(answer))[2]
    assert (await client.get(path, headers={"host": "localhost"})).status != 421
